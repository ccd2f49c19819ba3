/**
 * Promela as Spin 6.5.2 reads it, before its preprocessor: directives stand between tokens like comments, and a
 * name with arguments may be a macro wherever it could stand for a statement, an expression or a unit.
 *
 * The end of a line ends a statement where one can end (`_line_end`, from src/scanner.c): Spin does the same.
 * What it cannot know are macros that stand for part of a statement, such as an opening brace.
 */

const PREC = {
  implies: 1, or: 2, and: 3, until: 4, bit_or: 5, bit_xor: 6, bit_and: 7, equal: 8, compare: 9, shift: 10, add: 11,
  multiply: 12, prefix: 13,
};

/** Operators of every expression, from weak to strong; all group to the left. */
const OPERATORS = [
  [PREC.or, '||'], [PREC.and, '&&'], [PREC.bit_or, '|'], [PREC.bit_xor, '^'], [PREC.bit_and, '&'],
  [PREC.equal, choice('==', '!=')], [PREC.compare, choice('<', '<=', '>', '>=')],
  [PREC.shift, choice('<<', '>>')], [PREC.add, choice('+', '-')], [PREC.multiply, choice('*', '/', '%')],
];

/** Those that only formulas have. */
const TEMPORAL_OPERATORS = [
  [PREC.implies, choice('->', '<->', 'implies', 'equivalent')],
  [PREC.until, choice('U', 'V', 'W', 'until', 'stronguntil', 'weakuntil', 'release')],
];

const comma_list = rule => seq(rule, repeat(seq(',', rule)));

const binary = (operand, operators) => choice(...operators.map(([level, operator]) =>
  prec.left(level, seq(field('left', operand), field('operator', operator), field('right', operand)))));

/** Steps, of which those that do not end in `}` need a separator behind them. */
const sequence = $ => seq(
  repeat(choice(seq($._open_step, $._separator), $._closed_step, $._separator)),
  optional($._open_step),
);

const braces = $ => seq('{', sequence($), '}');

module.exports = grammar({
  name: 'promela',

  externals: $ => [
    $._line_end, $.c_text, $._bracket_text, $.preproc_text, $._condition_text, $._directive_end,
    $.preproc_inactive, $._error_sentinel,
  ],

  extras: $ => [
    /\s/, /\\\r?\n/, $.comment, $.preproc_define, $.preproc_include, $.preproc_if, $.preproc_skipped, $.preproc_directive,
    // Closes no comment: Spin warns and reads on.
    '*/',
  ],

  word: $ => $.identifier,

  supertypes: $ => [$._expression, $._formula],

  inline: $ => [$._separator],

  conflicts: $ => [
    // `name:` begins a labelled statement or `P:x`, and `(a -> b : c)` has a colon of its own.
    [$._variable, $.remote_reference],
    [$._operand, $.remote_reference],
  ],

  rules: {
    source_file: $ => repeat(choice($._unit, $._separator, seq($.macro_invocation, $._separator))),

    _unit: $ => choice(
      $.proctype_definition,
      $.init_definition,
      $.never_claim,
      $.trace_definition,
      $.ltl_definition,
      $.typedef_definition,
      $.inline_definition,
      $.mtype_declaration,
      $.declaration,
      $.c_code,
      $.c_declaration,
      $.c_state,
    ),

    // Units

    proctype_definition: $ => seq(
      optional(seq('active', optional(seq('[', field('instances', $._expression), ']')))),
      choice('proctype', 'D_proctype'),
      field('name', $.identifier),
      field('parameters', $.parameters),
      optional($.priority),
      optional($.provided),
      field('body', $.block),
    ),

    parameters: $ => seq('(', optional(seq($.declaration, repeat(seq(';', $.declaration)))), ')'),

    priority: $ => seq('priority', $.number),

    provided: $ => seq('provided', $.parenthesized_expression),

    init_definition: $ => seq('init', optional($.priority), field('body', $.block)),

    never_claim: $ => seq('never', optional(field('name', $.identifier)), field('body', $.block)),

    trace_definition: $ => seq(choice('trace', 'notrace'), optional(field('name', $.identifier)), field('body', $.block)),

    ltl_definition: $ => seq(
      'ltl', optional(field('name', $.identifier)), '{', field('formula', $._formula), optional(';'), '}',
    ),

    typedef_definition: $ => seq(
      'typedef', field('name', $.identifier), '{', field('fields', $.field_list), '}',
    ),

    field_list: $ => seq($._field, repeat(seq(repeat1($._separator), $._field)), repeat($._separator)),

    _field: $ => choice($.declaration, $.macro_invocation),

    inline_definition: $ => seq(
      'inline', field('name', $.identifier), field('parameters', $.inline_parameters), field('body', $.block),
    ),

    inline_parameters: $ => seq('(', optional(comma_list($.identifier)), ')'),

    /** A name at the top level that only the preprocessor knows. */
    macro_invocation: $ => seq(field('name', $.identifier), optional(field('arguments', $.arguments))),

    // Declarations

    mtype_declaration: $ => seq(
      optional($.visibility), 'mtype', optional(seq(':', field('set', $.identifier))), optional('='),
      '{', repeat1(choice(field('constant', $.identifier), ',')), '}',
    ),

    declaration: $ => seq(
      optional($.visibility), field('type', $._type), comma_list(field('declarator', $.declarator)),
    ),

    visibility: _ => choice('hidden', 'show', 'local'),

    _type: $ => choice($.primitive_type, $.mtype, alias($.identifier, $.type_identifier)),

    primitive_type: _ => choice('bit', 'bool', 'byte', 'short', 'int', 'unsigned', 'pid', 'chan'),

    mtype: $ => seq('mtype', optional(seq(':', field('set', $.identifier)))),

    declarator: $ => seq(
      field('name', $.identifier),
      optional(choice(seq(':', field('width', choice($.number, $.identifier))), seq('[', field('length', $._expression), ']'))),
      optional(seq('=', field('value', choice($._expression, $.channel, $.initializer_list)))),
    ),

    channel: $ => seq('[', field('capacity', $._expression), ']', 'of', '{', comma_list(field('field', $._type)), '}'),

    initializer_list: $ => seq('{', comma_list($._expression), '}'),

    // Steps

    block: $ => braces($),

    _separator: $ => choice(';', '->', $._line_end),

    _open_step: $ => choice(
      $.declaration,
      $.exclusive,
      $._open_statement,
      alias($.open_unless, $.unless_statement),
    ),

    _closed_step: $ => choice(
      $._closed_statement,
      alias($.closed_unless, $.unless_statement),
    ),

    open_unless: $ => seq(
      field('body', choice($._open_statement, $._closed_statement)), 'unless', field('escape', $._open_statement),
    ),

    closed_unless: $ => seq(
      field('body', choice($._open_statement, $._closed_statement)), 'unless', field('escape', $._closed_statement),
    ),

    exclusive: $ => seq(choice('xr', 'xs'), comma_list($._variable)),

    _open_statement: $ => choice(
      $.labeled_statement,
      $.if_statement,
      $.do_statement,
      $.select_statement,
      $.assignment,
      $.increment,
      $.send_statement,
      $.receive_statement,
      $.printf_statement,
      $.printm_statement,
      $.assert_statement,
      $.set_priority_statement,
      $.goto_statement,
      $.return_statement,
      $.break,
      $.expression_statement,
    ),

    _closed_statement: $ => choice(
      alias($.closed_labeled_statement, $.labeled_statement),
      $.block,
      $.atomic,
      $.d_step,
      $.for_statement,
      $.c_code,
      // Spin puts a separator behind it.
      $.else,
    ),

    labeled_statement: $ => prec.dynamic(1, prec.right(seq(
      field('label', $.identifier), ':', optional(field('statement', $._open_statement)),
    ))),

    closed_labeled_statement: $ => prec.dynamic(1, seq(
      field('label', $.identifier), ':', field('statement', $._closed_statement),
    )),

    atomic: $ => seq('atomic', braces($)),

    d_step: $ => seq('d_step', braces($)),

    if_statement: $ => seq('if', repeat1($.option), 'fi'),

    do_statement: $ => seq('do', repeat1($.option), 'od'),

    option: $ => prec.right(seq('::', sequence($))),

    for_statement: $ => seq(
      'for', '(', field('variable', $._variable),
      choice(seq(':', $.range), seq('in', field('container', $._variable))),
      ')', repeat($._separator), field('body', $.block),
    ),

    select_statement: $ => seq('select', '(', field('variable', $._variable), ':', $.range, ')'),

    range: $ => seq(field('from', $._expression), '..', field('to', $._expression)),

    assignment: $ => seq(field('left', $._place), '=', field('right', $._expression)),

    increment: $ => seq(field('variable', $._place), choice('++', '--')),

    send_statement: $ => seq(
      field('channel', $._place), field('operator', choice('!', '!!')), field('arguments', $.message),
    ),

    message: $ => prec.right(choice(
      comma_list($._expression),
      seq(choice($.number, $.character, $.subscript_expression, $.field_expression), $.arguments),
    )),

    receive_statement: $ => seq(
      field('channel', $._place), field('operator', choice('?', '??')),
      field('arguments', choice($.receive_arguments, seq('<', $.receive_arguments, '>'))),
    ),

    receive_arguments: $ => choice(
      comma_list($._receive_argument),
      seq('(', comma_list($._receive_argument), ')'),
      seq(choice($.number, $.subscript_expression, $.field_expression), '(', comma_list($._receive_argument), ')'),
    ),

    _receive_argument: $ => choice(
      $._variable, $.call_expression, $.number, $.negative_number, $.character, $.boolean, $.eval, $.skip,
    ),

    negative_number: $ => seq('-', choice($.number, $.identifier)),

    eval: $ => seq('eval', '(', $._expression, ')'),

    printf_statement: $ => seq('printf', '(', choice($.string, $.identifier), repeat(seq(',', $._expression)), ')'),

    printm_statement: $ => seq('printm', '(', $._expression, ')'),

    assert_statement: $ => seq('assert', $._expression),

    set_priority_statement: $ => seq('set_priority', '(', $._expression, ',', $._expression, ')'),

    goto_statement: $ => seq('goto', field('label', $.identifier)),

    return_statement: $ => seq('return', $._expression),

    break: _ => 'break',

    else: _ => 'else',

    expression_statement: $ => $._expression,

    // Embedded C

    c_code: $ => seq('c_code', optional($.c_assertion), '{', optional($.c_text), '}'),

    c_declaration: $ => seq('c_decl', '{', optional($.c_text), '}'),

    c_expression: $ => seq('c_expr', optional($.c_assertion), '{', optional($.c_text), '}'),

    c_assertion: $ => seq('[', alias($._bracket_text, $.c_text), ']'),

    c_state: $ => seq(choice('c_state', 'c_track'), $.string, $.string, optional($.string)),

    // Expressions

    _expression: $ => choice($.binary_expression, $.unary_expression, $._operand),

    binary_expression: $ => binary($._expression, OPERATORS),

    unary_expression: $ => prec(PREC.prefix, seq(field('operator', choice('!', '-', '~')), field('operand', $._expression))),

    _operand: $ => choice(
      $._variable,
      $.parenthesized_expression,
      $._atom,
    ),

    _atom: $ => choice(
      $.call_expression,
      $.run_expression,
      $.channel_query,
      $.process_query,
      $.poll_expression,
      $.remote_reference,
      $.c_expression,
      $.number,
      $.character,
      $.string,
      $.boolean,
      $.skip,
      $.timeout,
      $.non_progress,
    ),

    parenthesized_expression: $ => seq('(', choice($._expression, $.conditional_expression), ')'),

    conditional_expression: $ => seq(
      field('condition', $._expression), '->', field('consequence', $._expression), ':',
      field('alternative', $._expression),
    ),

    _variable: $ => choice($.identifier, $.subscript_expression, $.field_expression),

    /** Where a statement writes or what it sends through: a macro may stand for it. */
    _place: $ => choice($._variable, $.call_expression),

    subscript_expression: $ => seq(field('array', $._variable), '[', field('index', $._expression), ']'),

    field_expression: $ => seq(field('structure', $._variable), '.', field('field', $.identifier)),

    /** A call of an inline or a macro; the first field of a message with further ones looks the same. */
    call_expression: $ => seq(field('function', $.identifier), field('arguments', $.arguments)),

    arguments: $ => seq('(', optional(comma_list($._argument)), ')'),

    _argument: $ => choice($._expression, $.primitive_type, $.assignment, $.send_statement),

    run_expression: $ => prec.right(seq(
      'run', field('process', $.identifier), field('arguments', $.arguments), optional($.priority),
    )),

    channel_query: $ => seq(
      field('function', choice('len', 'full', 'nfull', 'empty', 'nempty')), '(', field('channel', $._variable), ')',
    ),

    process_query: $ => seq(
      field('function', choice('enabled', 'get_priority', 'pc_value')), '(', field('process', $._expression), ')',
    ),

    poll_expression: $ => seq(
      field('channel', $._place), field('operator', choice('?', '??')), '[', $.receive_arguments, ']',
    ),

    remote_reference: $ => prec.right(seq(
      field('process', $.identifier),
      optional(seq('[', field('instance', $._expression), ']')),
      choice(seq('@', field('label', $.identifier)), seq(':', field('variable', $._variable))),
    )),

    number: _ => /[0-9]+/,

    character: _ => /'([^\\'\n]|\\[^\n])'/,

    string: _ => /"([^"\\\n]|\\(.|\r?\n))*"/,

    boolean: _ => choice('true', 'false'),

    skip: _ => 'skip',

    timeout: _ => 'timeout',

    non_progress: _ => 'np_',

    // Formulas

    _formula: $ => choice(
      alias($.binary_formula, $.binary_expression),
      alias($.unary_formula, $.unary_expression),
      alias($.parenthesized_formula, $.parenthesized_expression),
      $._variable,
      $._atom,
    ),

    binary_formula: $ => binary($._formula, [...OPERATORS, ...TEMPORAL_OPERATORS]),

    unary_formula: $ => prec(PREC.prefix, seq(
      field('operator', choice('!', '-', '~', '[]', '<>', 'X', 'always', 'eventually', 'next')), field('operand', $._formula),
    )),

    parenthesized_formula: $ => seq('(', $._formula, ')'),

    // Words and what stands between tokens

    identifier: _ => /[A-Za-z_][A-Za-z0-9_]*/,

    comment: _ => token(choice(
      seq('//', /([^\\\n]|\\(.|\r?\n))*/),
      seq('/*', /[^*]*\*+([^/*][^*]*\*+)*/, '/'),
    )),

    preproc_define: $ => seq(
      alias(/#[ \t]*define/, '#define'),
      field('name', $.identifier),
      optional(field('parameters', $.preproc_parameters)),
      optional(field('value', $.preproc_text)),
      $._directive_end,
    ),

    preproc_parameters: _ => token.immediate(/\([^()\n]*\)/),

    preproc_include: $ => seq(
      alias(/#[ \t]*include/, '#include'),
      field('path', choice($.string, $.system_path)),
      $._directive_end,
    ),

    system_path: _ => token(prec(1, /<[^>\n]+>/)),

    preproc_if: $ => seq(
      field('directive', choice(
        alias(/#[ \t]*if/, '#if'), alias(/#[ \t]*ifdef/, '#ifdef'), alias(/#[ \t]*ifndef/, '#ifndef'),
        alias(/#[ \t]*elif/, '#elif'), alias(/#[ \t]*else/, '#else'), alias(/#[ \t]*endif/, '#endif'),
      )),
      optional(field('condition', alias($._condition_text, $.preproc_text))),
      $._directive_end,
    ),

    /** What never counts is often no Promela; the `#endif` is a directive of its own again. */
    preproc_skipped: $ => seq(alias(token(prec(1, /#[ \t]*if[ \t]+0/)), '#if 0'), $.preproc_inactive),

    preproc_directive: _ => token(/#[ \t]*(undef|error|warning|pragma|line|ident|sccs|import|include_next|[0-9]+)?([ \t]([^\\\n]|\\(.|\r?\n))*)?/),
  },
});

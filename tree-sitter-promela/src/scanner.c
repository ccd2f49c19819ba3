// Tokens that no regular expression finds: ends of lines that separate statements, C code, the rest of a directive.

#include "tree_sitter/parser.h"

enum Token { LINE_END, C_TEXT, BRACKET_TEXT, PREPROC_TEXT, CONDITION_TEXT, DIRECTIVE_END, INACTIVE, ERROR_SENTINEL };

void *tree_sitter_promela_external_scanner_create(void) { return NULL; }
void tree_sitter_promela_external_scanner_destroy(void *payload) { (void)payload; }
unsigned tree_sitter_promela_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload;
  (void)buffer;
  return 0;
}
void tree_sitter_promela_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  (void)payload;
  (void)buffer;
  (void)length;
}

static void advance(TSLexer *lexer) { lexer->advance(lexer, false); }

static bool is_word(int32_t c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Reads the rest of a quoted text, behind its first quote.
static void quoted(TSLexer *lexer, int32_t quote) {
  while (!lexer->eof(lexer) && lexer->lookahead != quote && lexer->lookahead != '\n') {
    if (lexer->lookahead == '\\') advance(lexer);
    advance(lexer);
  }
  if (lexer->lookahead == quote) advance(lexer);
}

// Reads the rest of a comment, behind its `/`; whether it was one.
static bool comment(TSLexer *lexer) {
  if (lexer->lookahead == '/') {
    while (!lexer->eof(lexer) && lexer->lookahead != '\n') advance(lexer);
    return true;
  }
  if (lexer->lookahead != '*') return false;
  advance(lexer);
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    advance(lexer);
    if (c == '*' && lexer->lookahead == '/') {
      advance(lexer);
      break;
    }
  }
  return true;
}

// C code up to the brace or bracket that closes it.
static bool embedded(TSLexer *lexer, int32_t open, int32_t close) {
  unsigned depth = 0;
  bool any = false;
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    if (c == close && depth == 0) return any;
    any = true;
    advance(lexer);
    if (c == open) depth++;
    if (c == close) depth--;
    if (c == '"' || c == '\'') quoted(lexer, c);
    if (c == '/') comment(lexer);
    lexer->mark_end(lexer);
  }
  return false;
}

// Whether the next word, behind white space and comments, is `unless`: it goes on with the statement before it.
static bool unless_follows(TSLexer *lexer) {
  for (;;) {
    while (lexer->lookahead == ' ' || lexer->lookahead == '\t' || lexer->lookahead == '\r' || lexer->lookahead == '\n') advance(lexer);
    if (lexer->lookahead != '/') break;
    advance(lexer);
    if (!comment(lexer)) return false;
  }
  for (const char *c = "unless"; *c; c++) {
    if (lexer->lookahead != *c) return false;
    advance(lexer);
  }
  return !is_word(lexer->lookahead);
}

static bool line_end(TSLexer *lexer) {
  while (lexer->lookahead == ' ' || lexer->lookahead == '\t' || lexer->lookahead == '\r') lexer->advance(lexer, true);
  if (lexer->lookahead != '\n') return false;
  advance(lexer);
  lexer->mark_end(lexer);
  return !unless_follows(lexer);
}

// Passes over blanks and escaped ends of lines.
static void blanks(TSLexer *lexer, bool skip) {
  for (;;) {
    while (lexer->lookahead == ' ' || lexer->lookahead == '\t' || lexer->lookahead == '\r') lexer->advance(lexer, skip);
    if (lexer->lookahead != '\\') return;
    lexer->advance(lexer, skip);
    while (lexer->lookahead == ' ' || lexer->lookahead == '\t' || lexer->lookahead == '\r') lexer->advance(lexer, skip);
    if (lexer->lookahead == '\n') lexer->advance(lexer, skip);
  }
}

// What a directive says behind its name, without the comment at its end.
static bool directive_text(TSLexer *lexer) {
  bool any = false;
  blanks(lexer, true);
  while (!lexer->eof(lexer) && lexer->lookahead != '\n') {
    int32_t c = lexer->lookahead;
    if (c == '/') {
      advance(lexer);
      if (comment(lexer)) {
        blanks(lexer, false);
        continue;
      }
    } else {
      advance(lexer);
      if (c == '"') quoted(lexer, c);
    }
    any = true;
    lexer->mark_end(lexer);
    blanks(lexer, false);
  }
  return any;
}

static bool directive_end(TSLexer *lexer) {
  blanks(lexer, true);
  if (lexer->eof(lexer)) return true;
  if (lexer->lookahead != '\n') return false;
  advance(lexer);
  lexer->mark_end(lexer);
  return true;
}

// Text behind the name of a macro begins behind a blank: a parenthesis at once begins the parameters.
static bool directive(TSLexer *lexer, const bool *valid) {
  if (valid[CONDITION_TEXT] || (valid[PREPROC_TEXT] && lexer->lookahead != '(')) {
    lexer->result_symbol = valid[CONDITION_TEXT] ? CONDITION_TEXT : PREPROC_TEXT;
    if (directive_text(lexer)) return true;
    lexer->mark_end(lexer);
  }
  lexer->result_symbol = DIRECTIVE_END;
  return directive_end(lexer);
}

// Reads a word into `word`, as far as there is room.
static void read_word(TSLexer *lexer, char *word, unsigned room) {
  unsigned length = 0;
  while (is_word(lexer->lookahead)) {
    if (length + 1 < room) word[length++] = (char)lexer->lookahead;
    advance(lexer);
  }
  word[length] = 0;
}

// Text below `#if 0`, up to the directive that ends it.
static bool inactive(TSLexer *lexer) {
  unsigned depth = 0;
  for (;;) {
    while (!lexer->eof(lexer) && lexer->lookahead != '\n') advance(lexer);
    if (lexer->eof(lexer)) return false;
    advance(lexer);
    lexer->mark_end(lexer);
    blanks(lexer, false);
    if (lexer->lookahead != '#') continue;
    advance(lexer);
    blanks(lexer, false);
    char word[8];
    read_word(lexer, word, sizeof word);
    if (word[0] == 'i' && word[1] == 'f') depth++;
    if (word[0] != 'e') continue;
    if (depth == 0 && (word[1] == 'l' || word[1] == 'n')) return true;
    if (word[1] == 'n') depth--;
  }
}

bool tree_sitter_promela_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
  (void)payload;
  // While it recovers from an error, the parser takes every token for possible.
  if (valid[ERROR_SENTINEL]) return false;
  if (valid[C_TEXT]) {
    lexer->result_symbol = C_TEXT;
    return embedded(lexer, '{', '}');
  }
  if (valid[BRACKET_TEXT]) {
    lexer->result_symbol = BRACKET_TEXT;
    return embedded(lexer, '[', ']');
  }
  if (valid[INACTIVE]) {
    lexer->result_symbol = INACTIVE;
    return inactive(lexer);
  }
  if (valid[DIRECTIVE_END]) return directive(lexer, valid);
  if (valid[LINE_END]) {
    lexer->result_symbol = LINE_END;
    return line_end(lexer);
  }
  return false;
}

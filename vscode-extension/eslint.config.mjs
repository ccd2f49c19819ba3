import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "out/", "bin/", "test/workbench/", "test/artefacts/", "node_modules/", "src/messages.ts", "src/debugMessages.ts"] },
  {
    files: ["src/**/*.ts", "test/**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { project: ["./tsconfig.json", "./src/webview/tsconfig.json", "./test/tsconfig.json"], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      // `vscode.Disposable` is a class that everything with `dispose` stands in for.
      "@typescript-eslint/no-unsafe-class-instance-assignment": "off",
      "max-lines": ["error", 400],
      "max-lines-per-function": ["error", 80],
      "no-console": "error",
    },
  },
  { files: ["test/**/*.ts"], rules: { "max-lines-per-function": "off", "no-console": "off", "@typescript-eslint/no-floating-promises": ["error", { allowForKnownSafeCalls: [{ from: "package", name: ["test", "describe", "it"], package: "node:test" }] }] } },
);

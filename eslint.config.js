import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const names = [
  'process',
  'console',
  'performance',
  'URL',
  'AbortController',
  'AbortSignal',
  'setTimeout',
  'setInterval',
  'setImmediate',
];
const globals = Object.fromEntries(names.map((name) => [name, 'readonly']));

export default tseslint.config(
  { ignores: ['dist/', 'build*/', 'prebuilds/', 'bench/results/'] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  ...tseslint.configs.stylistic,
  {
    languageOptions: { globals },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // Handlers that have nothing to do are written as such, with the reason beside them.
      '@typescript-eslint/no-empty-function': 'off',
      // It would copy nothing: the spread only kept elements on one line.
      'no-restricted-syntax': [
        'error',
        ...['ArrayExpression', 'CallExpression'].map((outer) => ({
          selector: `${outer} > SpreadElement > ArrayExpression`,
          message: 'Write the elements without a spread.',
        })),
        {
          selector: 'ObjectExpression > SpreadElement > ObjectExpression',
          message: 'Write the properties without a spread.',
        },
      ],
    },
  },
  // It runs in a browser, and nowhere else.
  {
    files: ['lib/report/html/page.js'],
    languageOptions: {
      sourceType: 'script',
      globals: { document: 'readonly', Element: 'readonly', ResizeObserver: 'readonly' },
    },
  },
  {
    files: ['test/**'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  {
    files: ['test/types/**', 'test/**/fixtures/**', 'test/unit/report/**'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/ban-ts-comment': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      'no-control-regex': 'off',
    },
  },
);

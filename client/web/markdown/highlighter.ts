import type { HighlighterCore, LanguageInput } from 'shiki/core';
import type { CodeHighlighterPlugin, HighlightResult } from 'streamdown';

/** Each a file of its own, which is loaded when a block of that language is seen. */
const LANGUAGES: Readonly<Record<string, LanguageInput>> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  dockerfile: () => import('shiki/langs/dockerfile.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
};

const ALIASES: Readonly<Record<string, string>> = {
  'c++': 'cpp',
  cs: 'csharp',
  docker: 'dockerfile',
  js: 'javascript',
  jsonc: 'json',
  kt: 'kotlin',
  md: 'markdown',
  mjs: 'javascript',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'bash',
};

const LIGHT = 'github-light-high-contrast';
const DARK = 'github-dark-default';
/** Longer code is shown without colours: they would cost more than a frame for each word that is added. */
const MAX_CODE = 20_000;

let highlighter: Promise<HighlighterCore> | null = null;
let ready: HighlighterCore | null = null;
const loaded = new Set<string>();

const languageOf = (name: string): string => {
  const lower = name.toLowerCase();
  return Object.hasOwn(ALIASES, lower) ? (ALIASES[lower] ?? lower) : lower;
};

async function create(): Promise<HighlighterCore> {
  const [{ createHighlighterCore }, { createJavaScriptRegexEngine }] = await Promise.all([
    import('shiki/core'),
    import('shiki/engine/javascript'),
  ]);
  return createHighlighterCore({
    themes: [import('shiki/themes/github-light-high-contrast.mjs'), import('shiki/themes/github-dark-default.mjs')],
    langs: [],
    // Regular expressions of the browser: no code made from text, no WebAssembly, which the page's policy forbids.
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  });
}

async function load(language: string): Promise<void> {
  ready = await (highlighter ??= create());
  const input = LANGUAGES[language];
  if (input) await ready.loadLanguage(input);
  loaded.add(language);
}

const tokensOf = (core: HighlighterCore, code: string, lang: string): HighlightResult =>
  core.codeToTokens(code, { lang, themes: { light: LIGHT, dark: DARK } });

/** Colours for code. Of a language that is not known, or not loaded yet, there are none. */
export const highlighterPlugin: CodeHighlighterPlugin = {
  name: 'shiki',
  type: 'code-highlighter',
  getSupportedLanguages: () => [...Object.keys(LANGUAGES), ...Object.keys(ALIASES)],
  getThemes: () => [LIGHT, DARK],
  supportsLanguage: (language) => Object.hasOwn(LANGUAGES, languageOf(language)),
  highlight({ code, language: name }, callback) {
    const language = languageOf(name);
    if (!Object.hasOwn(LANGUAGES, language) || code.length > MAX_CODE) return null;
    if (ready && loaded.has(language)) return tokensOf(ready, code, language);
    load(language).then(
      () => ready && callback?.(tokensOf(ready, code, language)),
      () => undefined,
    );
    return null;
  },
};

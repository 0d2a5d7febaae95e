/**
 * Makes .env.example and the table of docs/configuration.md from src/config/config.ts. With --check it only tests
 * whether both are up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type Setting, settings } from '#config/config.ts';

const example = [
  '# Settings of Satscribe, with their defaults: copy to .env and change what you need. Flags go before the environment,',
  '# the environment before this file. Made by `npm run env:example` from src/config/config.ts.',
  ...settings.map(
    (setting) =>
      `\n# ${setting.description}; ${setting.values}\n#${setting.variable}=${setting.default ?? ''}`,
  ),
  '',
].join('\n');

const table = [
  '| variable | flag | default | values | what it does |',
  '|---|---|---|---|---|',
  ...settings.map((setting) => row(setting)),
].join('\n');

function row(setting: Setting): string {
  const flag = setting.flag === null ? '' : `\`--${setting.flag}\``;
  const fallback = setting.default === null ? '' : `\`${setting.default}\``;
  const cells = [`\`${setting.variable}\``, flag, fallback, setting.values, setting.description];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

const documentFile = 'docs/configuration.md';
const begin = '<!-- settings: made by npm run env:example -->';
const end = '<!-- end of settings -->';
const documented = readFileSync(documentFile, 'utf8');
const from = documented.indexOf(begin);
const to = documented.indexOf(end);
if (from === -1 || to < from) throw new Error(`${documentFile} lacks the lines ${begin} and ${end}`);

const files: Readonly<Record<string, string>> = {
  '.env.example': example,
  [documentFile]: `${documented.slice(0, from)}${begin}\n${table}\n${documented.slice(to)}`,
};

for (const [file, text] of Object.entries(files)) {
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (!matches(file, text)) {
    console.error(`${file} is not what the code says: run npm run env:example`);
    process.exitCode = 1;
  }
}

function matches(file: string, text: string): boolean {
  try {
    return readFileSync(file, 'utf8') === text;
  } catch {
    return false;
  }
}

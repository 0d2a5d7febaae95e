import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { sampleStep } from '#test/support/property-runs.ts';
import { superlinearText } from '#test/support/regex-growth.ts';

const root = new URL('../../', import.meta.url);
const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';

/** Regular expressions that code composes, by the text of that code. */
const composed: Readonly<Record<string, RegExp>> = {
  // which letters the class contains does not matter
  "new RegExp(`[${capitals}]`, 'gu')": /[A-Z]/gu,
  "new RegExp(`[${phraseLetters}]`, 'gu')": /[А-Я]/gu,
  "new RegExp(`[\\\\p{L}\\\\p{M}\\\\p{N}]{${wordCodePointsMax + 1}}`, 'u')": /[\p{L}\p{M}\p{N}]{65}/u,
  "new RegExp(wholeNumberPattern, 'u')": /^-?\d+$/u,
  "new RegExp(`^${label}(?:\\\\.${label})*$`, 'u')": new RegExp(`^${label}(?:\\.${label})*$`, 'u'),
};

/** All regular expressions in a file: literals, patterns of schemas, and composed expressions. */
function expressionsIn(file: string): readonly (readonly [place: string, expression: RegExp])[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(new URL(file, root), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const found: [string, RegExp][] = [];
  const visit = (node: ts.Node): void => {
    const expression = expressionAt(node);
    if (expression !== null) found.push([`${file}: ${node.getText()}`, expression]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function expressionAt(node: ts.Node): RegExp | null {
  if (ts.isRegularExpressionLiteral(node)) {
    const end = node.text.lastIndexOf('/');
    return new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
  }
  if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp') {
    const expression = composed[node.getText()];
    expect(expression, `${node.getText()} is not among the expressions of this test`).toBeDefined();
    return expression ?? null;
  }
  if (!ts.isPropertyAssignment(node) || node.name.getText() !== 'pattern') return null;
  const { initializer } = node;
  if (ts.isStringLiteralLike(initializer)) return new RegExp(initializer.text, 'u');
  // String.raw
  if (!ts.isTaggedTemplateExpression(initializer)) return null;
  return new RegExp(initializer.template.getText().slice(1, -1), 'u');
}

test.each([[/[\t-\r ]+$/gu], [/^bearer(?:\s+(.*))?$/iu], [/(?:a+)+b/u], [/^(?:\d+)*x$/u], [/<!--.*-->/u]])(
  '%s is found to be superlinear',
  (expression) => {
    expect(superlinearText(expression)).not.toBeNull();
  },
);

test('every regular expression takes linear time', () => {
  const found = globSync('{src,indexer,search}/**/*.{ts,js}', { cwd: root.pathname }).flatMap(expressionsIn);
  // the search has found the files
  expect(found.length).toBeGreaterThan(100);
  // each try takes a third of a second, so only a long run tries all expressions
  const tried = found.filter((_, at) => at % sampleStep(6) === 0);
  const slow = tried.flatMap(([place, expression]) => {
    const text = superlinearText(expression);
    return text === null ? [] : [`${place} with ${JSON.stringify(text.slice(0, 200))}`];
  });
  expect(slow).toEqual([]);
});

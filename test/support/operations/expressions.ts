import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

/** The rules of operations/prometheus-alerts.yml. */
export function alertRules(): readonly AlertRule[] {
  const file = parse(read('operations/prometheus-alerts.yml')) as {
    readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
  };
  return file.groups.flatMap(({ rules }) => rules);
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** The panels of operations/grafana-dashboard.json, with the headings of their rows. */
export const dashboardPanels = (): readonly Panel[] =>
  (JSON.parse(read('operations/grafana-dashboard.json')) as { readonly panels: readonly Panel[] }).panels;

/** Rows of the table "Alerts" of docs/metrics.md. */
export function alertRows(): readonly { readonly alert: string; readonly when: string }[] {
  const section =
    read('docs/metrics.md')
      .split('\n## ')
      .find((part) => part.startsWith('Alerts\n')) ?? '';
  return [...section.matchAll(/^\| `(\w+)` \| (.+?) \| .+ \|$/gmu)].map(([, alert = '', when = '']) => ({
    alert,
    when,
  }));
}

/** Metrics with their labels, from the first table of docs/metrics.md. */
export function documentedMetrics(): ReadonlyMap<string, readonly string[]> {
  const [table = ''] = read('docs/metrics.md').split('\n## ');
  const named = [...table.matchAll(/`(satscribe_\w+)(?:\{([\w,]+)\})?`/gu)];
  return new Map(named.map(([, name = '', labels = '']) => [name, labels === '' ? [] : labels.split(',')]));
}

/** Words of PromQL that these expressions use, and that name no metric. */
const words = new Set(
  `and or unless on by ignoring max min sum count rate increase delta histogram_quantile min_over_time
   max_over_time`.split(/\s+/u),
);

export interface Expression {
  readonly metrics: readonly string[];
  readonly labels: readonly string[];
}

/**
 * The metrics and labels of an expression. Throws if it has a character, a word or a bracket that PromQL would refuse
 * there. It knows the part of PromQL that these files use.
 */
export function readExpression(text: string): Expression {
  const metrics = new Set<string>();
  const labels = new Set<string>();
  const open: string[] = [];
  let before = '';
  for (const word of wordsOf(text)) {
    if (/^[({[]$/u.test(word)) {
      open.push(isListOfLabels(before, word) ? 'labels' : word);
    } else if (closing[word] !== undefined) {
      if (!closing[word].includes(open.pop() ?? '')) throw new Error(`${word} in ${text}`);
    } else if (/^[a-zA-Z_]/u.test(word)) {
      if (['{', 'labels'].includes(open.at(-1) ?? '')) labels.add(word);
      else if (!words.has(word)) metrics.add(word);
    }
    before = word;
  }
  if (open.length > 0) throw new Error(`${open.join('')} is open in ${text}`);
  return { metrics: [...metrics], labels: [...labels] };
}

/** A list of labels follows one of these words. */
const isListOfLabels = (before: string, word: string): boolean =>
  word === '(' && /^(?:by|on|ignoring)$/u.test(before);

const closing: Readonly<Record<string, readonly string[]>> = { ')': ['(', 'labels'], '}': ['{'], ']': ['['] };

/** The words of an expression without its blanks. Throws for a character that belongs to none. */
function wordsOf(text: string): readonly string[] {
  const token =
    /\s+|"(?:[^"\\]|\\.)*"|\d+(?:\.\d+)?[smhd]?(?![\w.])|\$?[a-zA-Z_]\w*|[<>=!]=|=~|!~|[-+*/<>=(){}[\],:]/guy;
  const found = [...text.matchAll(token)].map(([word]) => word);
  const length = found.join('').length;
  if (length !== text.length) throw new Error(`not an expression from ${text.slice(length)}`);
  return found.filter((word) => word.trim() !== '');
}

/** All expressions of both files. */
export const allExpressions = (): readonly string[] => [
  ...alertRules().map(({ expr }) => expr),
  ...dashboardPanels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
];

/** The registered name of a metric: histograms have three series each. */
export const registeredName = (name: string): string =>
  /^satscribe_\w+_(?:seconds|blocks)_(?:count|sum|bucket)$/u.test(name)
    ? name.replace(/_(?:count|sum|bucket)$/u, '')
    : name;

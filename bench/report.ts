import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import type { StageRow } from '#kernel/stages/stage-sums.ts';

/** The target of a figure: its minimum or its maximum. */
export type Target = { readonly least: number } | { readonly most: number };

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly target?: Target;
}

export interface Table {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly [name: string, ...values: (number | string | null)[]])[];
}

export interface Report {
  readonly bench:
    | 'parse'
    | 'index'
    | 'snapshots'
    | 'search'
    | 'follow'
    | 'mempool'
    | 'payments'
    | 'watches'
    | 'bodies'
    | 'runes'
    | 'sats'
    | 'sales'
    | 'orders'
    | 'collections'
    | 'tokenpay'
    | 'withdrawals'
    | 'etchings'
    | 'psbts'
    | 'ledger'
    | 'backups'
    | 'api';
  /** The conditions of a measurement: what was measured, with which data, how often, and what was warm. */
  readonly notes: readonly string[];
  /** The figures of the JSON line, under the names in the documents. */
  readonly figures: readonly Figure[];
  /** Ratios and partial figures. Only the table shows them. */
  readonly details: readonly Figure[];
  readonly tables?: readonly Table[];
  /** Stages of a first sync, for the JSON line. */
  readonly stages?: readonly StageRow[];
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly node: string;
  readonly date: string;
}

export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    date: new Date().toISOString(),
  };
}

export function isReached(figure: Figure): boolean {
  if (figure.target === undefined) return true;
  return 'least' in figure.target ? figure.value >= figure.target.least : figure.value <= figure.target.most;
}

/** A number with three significant digits. Larger numbers keep all digits. */
function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value === 0 ? '0' : value.toPrecision(3);
}

function targetText({ target, ...figure }: Figure): string {
  if (target === undefined) return '';
  const bound = 'least' in target ? `≥ ${shown(target.least)}` : `≤ ${shown(target.most)}`;
  return `${bound}  ${isReached({ ...figure, target }) ? 'reached' : 'MISSED'}`;
}

function tableLines({ heads, rows }: Table): string[] {
  const texts = [
    heads,
    ...rows.map(([name, ...values]) => [
      name,
      ...values.map((value) => (typeof value === 'number' ? shown(value) : (value ?? ''))),
    ]),
  ];
  const widths = heads.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  const isText = heads.map((_, column) => rows.some((row) => /\p{L}/u.test(String(row[column] ?? ''))));
  const padded = (text: string, column: number): string =>
    isText[column] === true ? text.padEnd(widths[column]!) : text.padStart(widths[column]!);
  return ['', ...texts.map((row) => `  ${row.map(padded).join('  ')}`.trimEnd())];
}

/** The report as lines of text: first the notes, then one aligned line for each figure. */
export function reportLines(report: Report, on: Machine): string[] {
  const rows = [...report.figures, ...report.details].map((figure) => [
    figure.name,
    shown(figure.value),
    figure.unit,
    targetText(figure),
  ]);
  const width = (column: number): number => Math.max(...rows.map((row) => (row[column] as string).length));
  const [name, value, unit] = [width(0), width(1), width(2)];
  const load = loadavg()[0]!;
  return [
    `bench ${report.bench}: ${on.cpu}, ${on.cores} cores, ${on.memoryGB} GB, Node ${on.node}, ${on.date}, load ${load.toFixed(1)}`,
    ...report.notes.map((note) => `  ${note}`),
    '',
    ...rows.map((row) =>
      `  ${(row[0] as string).padEnd(name)}  ${(row[1] as string).padStart(value)} ${(row[2] as string).padEnd(unit)}  ${row[3]}`.trimEnd(),
    ),
    ...(report.tables ?? []).flatMap(tableLines),
  ];
}

/** The last line of `--json`. */
export function jsonLine(report: Report, on: Machine): string {
  const results = Object.fromEntries(
    report.figures.map(({ name, value }) => [name, Number(value.toPrecision(6))]),
  );
  const { bench, stages } = report;
  return JSON.stringify({ bench, machine: on, results, ...(stages === undefined ? {} : { stages }) });
}

import { AppError } from '#kernel/errors/app-error.ts';
import { type ErrorCode, errorCodes } from '#kernel/errors/error-codes.ts';
import { systemFailure } from '#kernel/errors/system-failure.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';

/** The groups of findings, in the order of the report. */
export const groups = [
  'settings',
  'versions',
  'files',
  'disk',
  'node',
  'policy',
  'database',
  'clock',
  'search',
  'wallet',
  'webhooks',
  'service',
] as const;
export type Group = (typeof groups)[number];

/** `advice`: the service works, and would work better. `broken`: a part of the service does not work. */
export type Level = 'ok' | 'advice' | 'broken';

/** A result of one check. */
export interface Finding {
  /** Group and name, for example `node.rest`. */
  readonly check: `${Group}.${string}`;
  readonly level: Level;
  readonly message: string;
  /** The next step. Null if the level is `ok`. */
  readonly action: string | null;
}

type Check = Finding['check'];

export const ok = (check: Check, message: string): Finding => ({
  check,
  level: 'ok',
  message,
  action: null,
});
export const advice = (check: Check, message: string, action: string): Finding => ({
  check,
  level: 'advice',
  message,
  action,
});
export const broken = (check: Check, message: string, action: string): Finding => ({
  check,
  level: 'broken',
  message,
  action,
});

/** A finding about a code of docs/errors.md, with the action of the code. */
export const coded = (
  check: Check,
  { code, message }: { readonly code: ErrorCode; readonly message: string },
  level: Exclude<Level, 'ok'> = 'broken',
): Finding => ({ check, level, message, action: errorCodes[code].action });

/** The finding for the failure of a check. */
export function failed(check: Check, thrown: unknown): Finding {
  const failure = postgresFailure(systemFailure(thrown));
  if (failure instanceof AppError) return coded(check, failure);
  const reason = failure instanceof Error ? failure.message : String(failure);
  return broken(check, `The check ended with an unexpected error: ${reason}`, 'Please report it.');
}

const severities = { ok: 0, advice: 1, broken: 2 } as const satisfies Record<Level, number>;

/** The exit code for a level. */
export const exitCodeOf = (level: Level): 0 | 1 | 2 => severities[level];

/** The most severe level. `ok` if there are no findings. */
export const worstOf = (findings: readonly Finding[]): Level =>
  findings.reduce<Level>((worst, { level }) => (severities[level] > severities[worst] ? level : worst), 'ok');

/** The group of a finding. */
export const groupOf = ({ check }: Finding): Group => check.slice(0, check.indexOf('.')) as Group;

/** Sorts findings by group. Findings of one group keep their order. */
export const inGroups = (findings: readonly Finding[]): readonly Finding[] =>
  groups.flatMap((group) => findings.filter((finding) => groupOf(finding) === group));

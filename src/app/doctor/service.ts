import { readStanding, type Standing } from '#http/operations/chain-lag.ts';
import { unreadyReasons } from '#http/operations/readiness.ts';
import { type ErrorCode, errorCodes } from '#kernel/errors/error-codes.ts';
import { boundedText } from './bounded-text.ts';
import { advice, broken, coded, type Finding, ok } from './finding.ts';
import type { Subject } from './subject.ts';

/** The parts of the answer of `/health/ready` that are judged. */
export interface ReadyAnswer {
  readonly isReady: boolean;
  readonly role: string;
  readonly height: number | null;
  /** Reasons why the service is not ready. Empty if it is ready, or just starts. */
  readonly reasons: readonly { readonly code: ErrorCode; readonly message: string }[];
}

/** Facts of the running service. */
export interface ServiceFacts {
  /** Null: PORT is 0, so the address is unknown. */
  readonly address: string | null;
  /** `silent`: nothing answers at the address. `foreign`: another program answers. */
  readonly answer: ReadyAnswer | 'silent' | 'foreign';
  /** State of the index. Null: the database cannot be read. */
  readonly standing: Standing | null;
  readonly lagMaxBlocks: number;
}

/** How long the service may take to answer, in ms. Its own reads end after 5 s. */
const answerMs = 8000;
/** Maximum bytes of its answer. It usually has some hundred. */
const answerBytesMax = 64 * 1024;

/** The service of the settings, if one runs. */
export const serviceSubject: Subject = {
  group: 'service',
  name: 'the running service',
  examine: async ({ config, database, signal }) => {
    const { host, port, readyLagBlocks: lagMaxBlocks } = config;
    const address = port === 0 ? null : addressOf(host, port);
    const answer = address === null ? 'silent' : await askReady(address, signal);
    const found = await database;
    const standing = found === null ? null : await readStanding(found.pool, null);
    return judgeService({ address, answer, standing, lagMaxBlocks });
  },
};

/** The address of a service on this machine that listens on a host. */
function addressOf(host: string, port: number): string {
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}`;
}

async function askReady(address: string, signal: AbortSignal): Promise<ServiceFacts['answer']> {
  const ends = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  let text: string;
  try {
    const answer = await fetch(`${address}/health/ready`, { signal: ends, redirect: 'manual' });
    text = await boundedText(answer, answerBytesMax);
  } catch (error) {
    return isRefused(error) ? 'silent' : 'foreign';
  }
  return readReady(text);
}

/** Whether nothing listens at the address. */
const isRefused = (error: unknown): boolean => {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return cause?.code === 'ECONNREFUSED' || cause?.code === 'ENOTFOUND';
};

/** Reads the answer of `/health/ready`. `foreign` for any other text. Total. */
export function readReady(text: string): ReadyAnswer | 'foreign' {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'foreign';
  }
  if (typeof value !== 'object' || value === null) return 'foreign';
  const { status, role, height, reasons } = value as Readonly<Record<string, unknown>>;
  if (status !== 'ok' && !Array.isArray(reasons)) return 'foreign';
  const list: readonly unknown[] = Array.isArray(reasons) ? reasons : [];
  return {
    isReady: status === 'ok',
    role: typeof role === 'string' ? role : 'all',
    height: typeof height === 'number' ? height : null,
    reasons: list.flatMap((reason) => (isReason(reason) ? [reason] : [])),
  };
}

function isReason(value: unknown): value is ReadyAnswer['reasons'][number] {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message } = value as Readonly<Record<string, unknown>>;
  return typeof code === 'string' && Object.hasOwn(errorCodes, code) && typeof message === 'string';
}

/** Judges the running service, or the index if none runs. Pure. */
export function judgeService({ address, answer, standing, lagMaxBlocks }: ServiceFacts): Finding[] {
  if (answer === 'foreign')
    return [
      broken(
        'service.answer',
        `What answers at ${address} is not this service, or does not answer in time.`,
        'If another program uses the port, choose another one with PORT. Otherwise read the log of the service.',
      ),
    ];
  if (answer === 'silent') return judgeWithout(address, standing, lagMaxBlocks);
  const { isReady, role, height, reasons } = answer;
  const where = height === null ? '' : `, at height ${height}`;
  const name = `A service of the role ${role} answers at ${address}`;
  if (isReady) return [ok('service.ready', `${name} and is ready${where}.`)];
  if (reasons.length === 0)
    return [
      advice('service.ready', `${name} and is starting.`, 'Wait some seconds, and run this command again.'),
    ];
  return [
    ok('service.answer', `${name}${where}.`),
    ...reasons.map((reason) => coded('service.ready', reason, levelOf(reason.code))),
  ];
}

/** Reasons that pass by themselves. */
const passing: readonly ErrorCode[] = [
  'nothing_indexed',
  'index_behind',
  'node_warming_up',
  'database_behind',
];

const levelOf = (code: ErrorCode): 'advice' | 'broken' => (passing.includes(code) ? 'advice' : 'broken');

/** Judges the index, without a service at the address. */
function judgeWithout(address: string | null, standing: Standing | null, lagMaxBlocks: number): Finding[] {
  const where =
    address === null
      ? 'PORT is 0, so the address of a service is unknown'
      : `No service answers at ${address}`;
  // before the first start, and with another process that indexes
  if (standing === null || standing.tip === null) return [ok('service.answer', `${where}.`)];
  const reasons = unreadyReasons(standing, [], { lagMaxBlocks });
  const findings = reasons.map((reason) =>
    coded('service.index', reason, reason.code === 'indexer_gone' ? 'advice' : levelOf(reason.code)),
  );
  if (findings.length === 0)
    findings.push(
      ok('service.index', `The index is at height ${standing.tip.height}, and a process follows the chain.`),
    );
  if (address === null) return [ok('service.answer', `${where}.`), ...findings];
  return [
    advice(
      'service.answer',
      `${where}.`,
      'Start it: satscribe serve. If it has another address, set HOST and PORT as it has them.',
    ),
    ...findings,
  ];
}

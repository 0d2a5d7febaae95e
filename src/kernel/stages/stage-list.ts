/** The thread, connection or source that does a stage's work. */
export type StagePart =
  | 'source'
  | 'parser threads'
  | 'main thread'
  | 'writer connection'
  | 'other connections'
  | 'sealer thread'
  | 'rest of Satscribe'
  | 'rest of Postgres';

interface ListedStage {
  /** A complete name, or the beginning of names that end with the name of a table or an index. */
  readonly name: string;
  readonly part: StagePart;
}

/** All stages of a sync, in the order in which data passes through them. */
const stages: readonly ListedStage[] = [
  { name: 'fetch', part: 'source' },
  { name: 'check', part: 'parser threads' },
  { name: 'parse', part: 'parser threads' },
  { name: 'ledger', part: 'main thread' },
  { name: 'ledger, held outputs', part: 'main thread' },
  { name: 'encode', part: 'main thread' },
  { name: 'outbox, texts', part: 'main thread' },
  { name: 'send', part: 'main thread' },
  // the time of a batch from its first statement to its last answer, including all its statements
  { name: 'write', part: 'writer connection' },
  { name: 'other statements', part: 'writer connection' },
  { name: 'ends of locations', part: 'writer connection' },
  { name: 'COPY ', part: 'writer connection' },
  { name: 'outbox', part: 'writer connection' },
  { name: 'commit', part: 'writer connection' },
  { name: 'sealing', part: 'sealer thread' },
  { name: 'sealing, statements', part: 'other connections' },
  { name: 'index ', part: 'other connections' },
  { name: 'analyze', part: 'other connections' },
  { name: 'main thread, other', part: 'rest of Satscribe' },
  { name: 'other threads (V8, libuv)', part: 'rest of Satscribe' },
  { name: 'Postgres, other', part: 'rest of Postgres' },
];

/** Stage to which waits for worker threads are charged while no worker is working. */
export const workerMessages = 'workers, messages';

function placeIn(stage: string): number {
  const at = stages.findIndex(({ name }) => name === stage || (name.endsWith(' ') && stage.startsWith(name)));
  return at === -1 ? stages.length : at;
}

/**
 * Part of a stage. `null` if the stage is unknown, or if it is not a stage but only a cause of waits, such as a
 * message.
 */
export function partOf(stage: string): StagePart | null {
  return stages[placeIn(stage)]?.part ?? null;
}

/** Sorts stages in the order in which data passes through them. */
export const byWay = (one: { readonly stage: string }, other: { readonly stage: string }): number =>
  placeIn(one.stage) - placeIn(other.stage);

/** Whether a stage is a single statement of the database. The stage `write` consists of several statements. */
export function isStatement(stage: string): boolean {
  const part = partOf(stage);
  return stage !== 'write' && (part === 'writer connection' || part === 'other connections');
}

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** Steps in processing a block whose duration is measured. */
export const pipelineSteps = ['fetch', 'parse', 'ledger', 'write', 'undo'] as const;
export type PipelineStep = (typeof pipelineSteps)[number];

/**
 * Values that are read at each request of the metrics, for example the length of a queue. If reading fails, the value
 * is absent.
 */
export interface Reading {
  readonly name: string;
  readonly help: string;
  /** Names of the labels. Absent if there are no labels. */
  readonly labels?: readonly string[];
  readonly values: () => Promise<readonly ReadValue[]> | readonly ReadValue[];
}

export interface ReadValue {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * Results of an attempt to send a webhook. `refused` means an answer that is neither 2xx nor 410. `unanswered` means no
 * answer.
 */
export const webhookTryResults = ['delivered', 'gone', 'refused', 'unanswered'] as const;
export type WebhookTryResult = (typeof webhookTryResults)[number];

export interface HttpRequest {
  readonly method: string;
  /** The pattern of the route. The path is never used, because there must be few labels. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export interface QueueState {
  readonly length: number;
  readonly limit: number;
}

/** The measurements of a process. docs/metrics.md has their names, types and labels. */
export interface Metrics {
  observeStep(step: PipelineStep, seconds: number): void;
  /** Counts the blocks of a commit. */
  countBlocks(done: { readonly blocks: number; readonly bytes: number; readonly inscriptions: number }): void;
  /** Records a reorganisation that took back this many blocks. */
  observeReorganisation(depthBlocks: number): void;
  observeRequest(request: HttpRequest): void;
  /** Counts an attempt to send a webhook. */
  countWebhookTry(result: WebhookTryResult): void;
  /** Adds gauges that are read on request. */
  read(reading: Reading): void;
  /** Shows a queue and its limit. If the name is already used, the new queue replaces the old one. */
  watchQueue(name: string, look: () => QueueState): void;
  /** The queues that are watched, in the order of their names. */
  queues(): readonly (QueueState & { readonly name: string })[];
  /** The text of all metrics, and its content type. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/**
 * Bucket bounds in seconds, from a block of transfers at the tip (a millisecond) to a batch of a first sync (seconds).
 */
const stepBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Bucket bounds in seconds, from a lookup (a millisecond) to the time limit of a statement (30 s). */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/**
 * Bucket bounds in blocks. They separate usual reorganisations (one or two blocks), rare reorganisations, and
 * reorganisations that a person should examine.
 */
const depthBuckets = [1, 2, 3, 6, 10, 25, 100, 1000];

/** Metrics with a separate registry. Metrics of the process and of Node keep the names that dashboards know. */
export function createMetrics(onReadError: (name: string, error: unknown) => void): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const steps = new Histogram({
    name: 'satscribe_step_duration_seconds',
    help: 'Time of one step of the work on a block or on a batch',
    labelNames: ['step'],
    buckets: stepBuckets,
    registers,
  });
  // show zeros for a step that has not happened yet, so that dashboards have no gap
  for (const step of pipelineSteps) steps.zero({ step });
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  const blocks = counter('satscribe_blocks_applied_total', 'Blocks that were applied and committed');
  const bytes = counter('satscribe_block_bytes_total', 'Bytes of raw blocks that were applied');
  const inscriptions = counter('satscribe_inscriptions_indexed_total', 'Inscriptions that were indexed');
  const depth = new Histogram({
    name: 'satscribe_reorganisation_depth_blocks',
    help: 'Blocks that a reorganisation took back',
    buckets: depthBuckets,
    registers,
  });
  const requests = new Histogram({
    name: 'satscribe_http_request_duration_seconds',
    help: 'Time from the header of a request until its answer was sent',
    labelNames: ['method', 'route', 'status'],
    buckets: requestBuckets,
    registers,
  });
  const webhookTries = new Counter({
    name: 'satscribe_webhook_tries_total',
    help: 'Attempts to send a webhook, by result',
    labelNames: ['result'],
    registers,
  });
  for (const result of webhookTryResults) webhookTries.inc({ result }, 0);
  const read = (reading: Reading): void => addReading(registry, reading, onReadError);
  const queues = new Map<string, () => QueueState>();
  readQueues(read, queues);
  return {
    watchQueue: (name, look) => queues.set(name, look),
    queues: () =>
      [...queues].map(([name, look]) => ({ name, ...look() })).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    observeStep: (step, seconds) => steps.observe({ step }, seconds),
    countBlocks: (done) => {
      blocks.inc(done.blocks);
      bytes.inc(done.bytes);
      inscriptions.inc(done.inscriptions);
    },
    observeReorganisation: (depthBlocks) => depth.observe(depthBlocks),
    observeRequest: ({ method, route, status, seconds }) =>
      requests.observe({ method, route, status: String(status) }, seconds),
    countWebhookTry: (result) => webhookTries.inc({ result }),
    read,
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}

function readQueues(read: (reading: Reading) => void, queues: ReadonlyMap<string, () => QueueState>): void {
  const values = (of: (state: QueueState) => number) => (): ReadValue[] =>
    [...queues].map(([queue, look]) => ({ labels: { queue }, value: of(look()) }));
  read({
    name: 'satscribe_queue_length',
    help: 'What waits in a queue',
    labels: ['queue'],
    values: values(({ length }) => length),
  });
  read({
    name: 'satscribe_queue_limit',
    help: 'Bound of a queue',
    labels: ['queue'],
    values: values(({ limit }) => limit),
  });
}

function addReading(
  registry: Registry,
  { name, help, labels, values }: Reading,
  onReadError: (name: string, error: unknown) => void,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: [...(labels ?? [])],
    registers: [registry],
    collect: async () => {
      gauge.reset();
      // after a reset, a gauge without labels would be 0, although this value was never measured
      if (labels === undefined) gauge.remove();
      try {
        for (const { labels: of, value } of await values()) gauge.set({ ...of }, value);
      } catch (error) {
        onReadError(name, error);
      }
    },
  });
}

import { limits } from '#http/server/limits.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

/**
 * Maximum number of calls that run at once: half of the connections to the node (src/node/core-rpc.ts). The indexer has
 * the other half.
 */
const runningMax = 4;
/**
 * Maximum number of running calls of one client while other clients wait. A small request then waits for a call or two
 * at most.
 */
const eachBesideOthers = 2;
/** How long a call waits at most, in ms: as long as a request waits for its own turn. */
const waitMs = 30_000;

/** Number of calls that one request for many outputs makes at once: as many as may run. */
export const callsAtOnce = runningMax;

/** Maximum number of waiting calls: all requests that are being answered, each with the calls that it makes at once. */
const waitingMax = limits.requests * callsAtOnce;

/**
 * Calls of the node for answers. Only a few run at once, and clients take turns, so that the indexer and other clients
 * get their calls, too. Calls for a disconnected client are aborted.
 */
export class NodeCalls {
  readonly #node: NodeRpc;
  readonly #gate = new FairGate({
    running: runningMax,
    eachBesideOthers,
    waiting: waitingMax,
    waitMs,
    refusal: () =>
      new AppError('overloaded', 'too many answers are waiting for the node: try again in a few seconds'),
  });

  constructor(node: NodeRpc) {
    this.#node = node;
  }

  /** Number of waiting calls, and their limit. */
  get state(): QueueState {
    return this.#gate.state;
  }

  /** The node, for the calls of one client. */
  of(asker: Asker): NodeRpc {
    const { signal } = asker;
    return {
      url: this.#node.url,
      call: <Result>(method: string, parameters?: readonly unknown[]) =>
        this.#gate.run(asker, () => this.#node.call<Result>(method, parameters, { signal })),
    };
  }
}

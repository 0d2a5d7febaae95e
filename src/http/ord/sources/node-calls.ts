import { limits } from '#http/server/limits.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

/**
 * Calls that run at once: half of the connections to the node (src/node/core-rpc.ts). The indexer has the other half.
 */
const runningMax = 4;
/** Calls of one client while others ask too: a look-up then gets a place within a call or two. */
const eachBesideOthers = 2;
/** Longest wait of a call, the same as that of a request for its own place. */
const waitMs = 30_000;

/** Calls that answers make at once for one request of many outputs: all places. */
export const callsAtOnce = runningMax;

/** Calls that may wait: all requests that are being answered, with the calls that each makes at once. */
const waitingMax = limits.requests * callsAtOnce;

/**
 * Calls of the node for answers. Only a few run at once, and clients take turns, so that the indexer and other clients
 * get theirs. The calls for a disconnected client end.
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

  /** Waiting calls, and their limit. */
  get state(): QueueState {
    return this.#gate.state;
  }

  /** The node for one client. */
  of(asker: Asker): NodeRpc {
    const { signal } = asker;
    return {
      url: this.#node.url,
      call: <Result>(method: string, parameters?: readonly unknown[]) =>
        this.#gate.run(asker, () => this.#node.call<Result>(method, parameters, { signal })),
    };
  }
}

import { limits } from '#http/server/limits.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

/** Half of the connections to the node (src/node/core-rpc.ts): the other half is the indexer's. */
const runningMax = 4;
/** Of one client while others ask too: a look-up then has a place within a call or two. */
const eachBesideOthers = 2;
/** As long as a request waits for its own place. */
const waitMs = 30_000;

/** Calls that answers make at once about one request of many outputs: all that there are places for. */
export const callsAtOnce = runningMax;

/** All requests that are being answered, with the calls that each makes at once. */
const waitingMax = limits.requests * callsAtOnce;

/**
 * Calls of the node that answers make: a few at once, and clients in turns, so that the indexer and other clients get
 * theirs. The calls for a client that is gone end.
 */
export class NodeCalls {
  readonly #node: NodeRpc;
  readonly #gate = new FairGate({
    running: runningMax,
    eachBesideOthers,
    waiting: waitingMax,
    waitMs,
    refusal: () =>
      new AppError('overloaded', 'the node is asked for too much at once: try again in a few seconds'),
  });

  constructor(node: NodeRpc) {
    this.#node = node;
  }

  /** Calls that wait, and how many may. */
  get state(): QueueState {
    return this.#gate.state;
  }

  /** The node, as one client asks it. */
  of(asker: Asker): NodeRpc {
    const { signal } = asker;
    return {
      url: this.#node.url,
      call: <Result>(method: string, parameters?: readonly unknown[]) =>
        this.#gate.run(asker, () => this.#node.call<Result>(method, parameters, { signal })),
    };
  }
}

import { limits } from '#http/server/limits.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

/**
 * Maximum number of calls that run at once. It is half of the connections to the node (src/node/core-rpc.ts). Walks
 * over sats may use three more (sat-ranges/node-trace-source.ts). At least one is left for the indexer.
 */
const runningMax = 4;
/**
 * Maximum number of running calls of one client while other clients wait. A small request then waits for a call or two
 * at most.
 */
const eachBesideOthers = 2;
/** How long a call waits at most, in ms. A request waits equally long for its own turn. */
const waitMs = 30_000;

/** Number of calls that one request for many outputs makes at once. It is the maximum number of running calls. */
export const callsAtOnce = runningMax;

/**
 * Maximum number of waiting calls. It is enough if every request that is being answered makes all its calls at once.
 */
const waitingMax = limits.requests * callsAtOnce;

/**
 * Calls the node for the answers to clients. Only a few calls run at once, and clients take turns, so that the indexer
 * and other clients get their calls, too. Calls for a disconnected client are aborted.
 */
export class NodeCalls {
  readonly #node: NodeRpc;
  readonly #gate = new FairGate({
    running: runningMax,
    eachBesideOthers,
    waiting: waitingMax,
    waitMs,
    refusal: () =>
      new AppError('overloaded', 'too many requests are waiting for the node; try again in a few seconds'),
  });

  constructor(node: NodeRpc) {
    this.#node = node;
  }

  /** Number of waiting calls, and the limit of this number. */
  get state(): QueueState {
    return this.#gate.state;
  }

  /** Returns the node for the calls of one client. */
  of(asker: Asker): NodeRpc {
    const { signal } = asker;
    return {
      url: this.#node.url,
      call: <Result>(method: string, parameters?: readonly unknown[]) =>
        this.#gate.run(asker, () => this.#node.call<Result>(method, parameters, { signal })),
    };
  }
}

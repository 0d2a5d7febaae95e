import type { PaymentEvent, WatchedScripts } from '#kernel/contracts/watched-scripts.ts';
import type { TransactionOutput } from './transaction-batch.ts';

/** An open order has a script of its own: far more than can be open at once, and 100 MB. */
const scriptsMax = 1_000_000;

/** The scripts, and what the follower of the mempool asks and tells. */
export interface ScriptWatch extends WatchedScripts {
  readonly size: number;
  /** Those of a transaction's outputs that pay a watched script. */
  payments(outputs: readonly TransactionOutput[]): TransactionOutput[];
  tell(event: PaymentEvent): void;
}

export function createScriptWatch(): ScriptWatch {
  const scripts = new Set<string>();
  const listeners = new Set<(event: PaymentEvent) => void>();
  return {
    get size() {
      return scripts.size;
    },
    watch: (script) => {
      if (scripts.size >= scriptsMax) throw new RangeError(`more than ${scriptsMax} scripts are watched`);
      scripts.add(keyOf(script));
    },
    unwatch: (script) => {
      scripts.delete(keyOf(script));
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    payments: (outputs) =>
      scripts.size === 0 ? [] : outputs.filter(({ script }) => scripts.has(keyOf(script))),
    tell: (event) => {
      for (const listener of listeners) listener(event);
    },
  };
}

const keyOf = (script: Uint8Array): string =>
  Buffer.from(script.buffer, script.byteOffset, script.byteLength).toString('latin1');

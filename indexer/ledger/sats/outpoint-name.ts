import type { FlowColumns } from '#indexer/facts/flow-columns.ts';

const hashLength = 32;
export const outpointLength = 36;

/** The 36 bytes of an outpoint as a key of maps. */
export function outpointName(bytes: Uint8Array, at: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + at, outpointLength).toString('latin1');
}

/** The same of the outputs of one transaction after the other. */
export class OutputNames {
  readonly #outpoint = Buffer.alloc(outpointLength);

  /** The txid at `at` is that of the outputs which are named next. */
  enter(txids: Uint8Array, at: number): void {
    for (let index = 0; index < hashLength; index++) this.#outpoint[index] = txids[at + index]!;
  }

  of(vout: number): string {
    this.#outpoint.writeUInt32LE(vout, hashLength);
    return this.#outpoint.toString('latin1');
  }
}

/** What a block must know of earlier ones, by names of outpoints. */
export interface AskedOutpoints {
  /** The outputs that it spends and did not make, in the order of its inputs. */
  readonly spent: readonly string[];
  /** The outputs of its coinbase, in their order: a twin has them, and loses them. */
  readonly replaced: readonly string[];
}

/** @param firstInput the first one after those of the coinbase */
export function outpointsAsked(bytes: Uint8Array, flow: FlowColumns, firstInput: number): AskedOutpoints {
  const { source, outpointAt, txFirstOutput, txid } = flow;
  const spent: string[] = [];
  for (let input = firstInput; input < source.length; input++)
    if (source[input]! < 0) spent.push(outpointName(bytes, outpointAt[input]!));
  const names = new OutputNames();
  names.enter(txid, 0);
  return { spent, replaced: Array.from({ length: txFirstOutput[1]! }, (_, vout) => names.of(vout)) };
}

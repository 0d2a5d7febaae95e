import { hash as digest } from 'node:crypto';
import { p2tr, TaprootControlBlock, TEST_NETWORK, utils } from '@scure/btc-signer';
import { asRune, runeCommitment } from '#kernel/runes/rune.ts';
import type { Coin } from '#test/builders/valid-blocks.ts';

type Witness = readonly Uint8Array[];

/** The ways to spend a commitment. They need no signature. */
export interface Commitment {
  /** The witness that shows the envelopes. */
  readonly reveal: Witness;
  /** The witness that shows a script without an envelope. */
  readonly plain: Witness;
  /** Makes a witness with a script that drops an item first. For example, the item looks like a signature. */
  readonly with: (item: Uint8Array) => Witness;
  /** The name of a rune that the reveal pushes; `null` if it pushes no name. */
  readonly name: bigint | null;
}

const opTrue = 0x51;
const opDrop = 0x75;
const plainScript = Uint8Array.of(opTrue);
const droppingScript = Uint8Array.of(opDrop, opTrue);
const dropScript = Uint8Array.of(opDrop);
const pushOf = (bytes: Uint8Array): Uint8Array => Uint8Array.of(bytes.length, ...bytes);
const internalKey = utils.pubSchnorr(Uint8Array.from(digest('sha256', 'chaos', 'buffer')));

/**
 * Taproot outputs that commit to envelopes, as wallets make them before a reveal. Bitcoin Core relays both transactions
 * by its default policy. All blocks and branches share these commitments, because an output script identifies its
 * commitment.
 */
export class Commitments {
  readonly #byScript = new Map<string, Commitment>();

  /**
   * Makes a commitment, and returns its output script. `envelopes` must be a script that runs to its end and leaves
   * nothing on the stack.
   */
  make(envelopes: Uint8Array, name: bigint | null = null): Uint8Array {
    const pushed = name === null ? [] : [pushOf(runeCommitment(asRune(name))), dropScript];
    const revealScript = Buffer.concat([...pushed, envelopes, plainScript]);
    const { script, tapLeafScript = [] } = p2tr(
      internalKey,
      [{ script: revealScript }, { script: plainScript }, { script: droppingScript }],
      TEST_NETWORK,
      true,
    );
    const showing = (leaf: Uint8Array): Witness => {
      // a leaf of the tree ends with its version
      const [control] =
        tapLeafScript.find(([, shown]) => Buffer.compare(shown.subarray(0, -1), leaf) === 0) ?? [];
      if (control === undefined) throw new Error('a commitment lacks one of its leaves');
      return [leaf, TaprootControlBlock.encode(control)];
    };
    const dropping = showing(droppingScript);
    this.#byScript.set(keyOf(script), {
      reveal: showing(revealScript),
      plain: showing(plainScript),
      with: (item) => [item, ...dropping],
      name,
    });
    return script;
  }

  /** `null` if the coin is not a commitment. */
  of({ script }: Coin): Commitment | null {
    return this.#byScript.get(keyOf(script)) ?? null;
  }
}

const keyOf = (script: Uint8Array): string => Buffer.from(script).toString('latin1');

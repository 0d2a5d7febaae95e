import type { Random } from './random.ts';
import { type Coin, openScript, type SpentCoin } from './valid-blocks.ts';

/** Shares of P2WPKH and P2PKH among outputs. The rest are P2TR. */
const witnessKeyHashShare = 0.42;
const keyHashShare = 0.15;
/** Share of P2WSH (two keys out of three) among the long outputs. The other long outputs are P2TR. */
const multisigShare = 0.22;
const multisigScriptBytes = 105;
const runestoneBytes = 9;

const opcode = { return: 0x6a, drop: 0x75, twoDrop: 0x6d, true: 0x51, nop: 0x61, number13: 0x5d } as const;
const scriptLength = { witnessKeyHash: 22, keyHash: 25 } as const;
const noBytes = new Uint8Array(0);
const noWitness: readonly Uint8Array[] = [];

function randomBytes(random: Random, length: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(length);
  random.fill(bytes, 0, length);
  return bytes;
}

function push(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

/**
 * A script that is as long as P2PKH, and is spent with as many bytes. It drops hash, signature and key without checking
 * them.
 */
function openKeyHashScript(hash: Uint8Array): Uint8Array {
  return Buffer.concat([push(hash), Buffer.from([opcode.drop, opcode.twoDrop, opcode.true, opcode.nop])]);
}

/** Whether a coin is a multisig, by the first byte of the hash in its script. */
function isMultisig({ script }: Coin): boolean {
  return script[2]! < multisigShare * 256;
}

/**
 * Makes scripts that are as long as those of mainnet's wallets. Anyone can spend them, with a witness or script as long
 * as on mainnet.
 */
export class Wallet {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  bytes(length: number): Uint8Array {
    return randomBytes(this.#random, length);
  }

  /** The script of a payment to another wallet. */
  owner(): Uint8Array {
    const way = this.#random.unit();
    if (way < witnessKeyHashShare) return openScript(this.bytes(20));
    if (way < witnessKeyHashShare + keyHashShare) return openKeyHashScript(this.bytes(20));
    return openScript(this.bytes(32));
  }

  /** A P2TR script for the input of a reveal. */
  taproot(): Uint8Array {
    return openScript(this.bytes(32));
  }

  /** The script of an unspendable output that is as long as a runestone of one transfer. */
  runestone(): Uint8Array {
    return Buffer.concat([Buffer.from([opcode.return, opcode.number13]), push(this.bytes(runestoneBytes))]);
  }

  /**
   * Spends a coin with as many bytes as a real wallet: signature and key of P2WPKH, the signature of P2TR, or two
   * signatures and the script of three keys.
   */
  signed(coin: Coin): SpentCoin {
    switch (coin.script.length) {
      case scriptLength.keyHash:
        return {
          coin,
          scriptSig: Buffer.concat([push(this.bytes(72)), push(this.bytes(33))]),
          witness: noWitness,
        };
      case scriptLength.witnessKeyHash:
        return { coin, witness: [this.bytes(72), this.bytes(33)] };
      default:
        return {
          coin,
          witness: isMultisig(coin)
            ? [noBytes, this.bytes(72), this.bytes(72), this.bytes(multisigScriptBytes)]
            : [this.bytes(64)],
        };
    }
  }
}

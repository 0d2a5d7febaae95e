import { hash as digest } from 'node:crypto';
import { Address, p2tr, TaprootControlBlock, TEST_NETWORK, Transaction, utils } from '@scure/btc-signer';

/** An output that a test can spend: with its owner's key or, if it commits to a script, by revealing the script. */
export interface Coin {
  /** Display order. */
  readonly txid: string;
  readonly vout: number;
  /** Sats. */
  readonly value: number;
  readonly owner: number;
  readonly script?: Uint8Array;
  /** How its owner signs; absent: DEFAULT. */
  readonly sighash?: number;
}

/** An output to create: to an owner's key, to a committed script, or to any output script. */
export interface NewOutput {
  readonly value: number;
  /** Default: 0. */
  readonly to?: number;
  /** Tapscript, e.g. envelopes; `OP_TRUE` is appended. */
  readonly commit?: Uint8Array;
  readonly outputScript?: Uint8Array;
}

export interface RegtestTransaction {
  /** Display order. */
  readonly txid: string;
  readonly hex: string;
  /** Sats. */
  readonly fee: number;
  /** Its outputs that `transaction` can spend; those with other scripts are null. */
  readonly coins: readonly (Coin | null)[];
  /** The output with that index. Throws if it cannot be spent. */
  coin(vout: number): Coin;
  /** Id of its n-th inscription. */
  id(index?: number): string;
}

/** An output that burns its value; four bytes of data make the smallest transaction long enough for a mempool. */
export const burnScript = Uint8Array.of(0x6a, 0x04, 1, 2, 3, 4);

const regtest = { ...TEST_NETWORK, bech32: 'bcrt' };
/** Signals replaceability (BIP 125), without a lock. */
const replaceable = 0xffff_fffd;
const opTrue = 0x51;

const privateKey = (owner: number): Uint8Array =>
  Uint8Array.from(digest('sha256', `owner ${owner}`, 'buffer'));

/**
 * What an owner's key gives. A transaction asks for each coin and payment, and a point of the curve takes a
 * millisecond.
 */
interface OwnerKey {
  readonly publicKey: Uint8Array;
  /** P2TR, without a script path. */
  readonly script: Uint8Array;
}
const ownerKeys = new Map<number, OwnerKey>();

function keyOf(owner: number): OwnerKey {
  const known = ownerKeys.get(owner);
  if (known !== undefined) return known;
  const key = utils.pubSchnorr(privateKey(owner));
  const made = { publicKey: key, script: p2tr(key, undefined, regtest).script };
  ownerKeys.set(owner, made);
  return made;
}

const publicKey = (owner: number): Uint8Array => keyOf(owner).publicKey;

/** Output script of an owner: the key (P2TR), with a script path if a script is given. */
const outputScriptOf = (owner: number, script?: Uint8Array): Uint8Array =>
  script === undefined ? keyOf(owner).script : committed(owner, script).script;

/** The commitments to a script by owner: its payment, its coin and its witness ask for the same one. */
const commitments = new WeakMap<Uint8Array, Map<number, ReturnType<typeof committedBy>>>();

function committed(owner: number, script: Uint8Array): ReturnType<typeof committedBy> {
  const byOwner = commitments.get(script) ?? new Map<number, ReturnType<typeof committedBy>>();
  commitments.set(script, byOwner);
  const made = byOwner.get(owner) ?? committedBy(publicKey(owner), shown(script));
  byOwner.set(owner, made);
  return made;
}
// one place for the overload of `p2tr` that takes a tree
const committedBy = (key: Uint8Array, script: Uint8Array) => p2tr(key, { script }, regtest, true);

/** The witness of a commitment: the revealed script, and a value that lets it succeed. */
const shown = (script: Uint8Array): Uint8Array => Buffer.concat([script, Buffer.from([opTrue])]);

/** The output script of an owner, for the caller alone. */
export const scriptOf = (owner: number): Uint8Array => outputScriptOf(owner).slice();

export const addressOf = (owner: number): string =>
  Address(regtest).encode({ type: 'tr', pubkey: keyIn(owner) });

const keyIn = (owner: number): Uint8Array => scriptOf(owner).slice(2);

/** A signed transaction. What the payments leave of the coins is its fee. */
export function transaction(
  coins: readonly Coin[],
  payments: readonly NewOutput[],
  sequence: number = replaceable,
  version = 2,
): RegtestTransaction {
  const made = new Transaction({
    version,
    allowUnknownOutputs: true,
    allowUnknownInputs: true,
    disableScriptCheck: true,
  });
  for (const { txid, vout, value, owner, script, sighash } of coins) {
    const witnessUtxo = { script: outputScriptOf(owner, script), amount: BigInt(value) };
    const key = script === undefined ? { tapInternalKey: publicKey(owner) } : {};
    const sighashType = sighash === undefined ? {} : { sighashType: sighash };
    made.addInput({ txid, index: vout, witnessUtxo, sequence, ...key, ...sighashType });
  }
  for (const { value, to = 0, commit, outputScript } of payments) {
    made.addOutput({ script: outputScript ?? outputScriptOf(to, commit), amount: BigInt(value) });
  }
  for (const [index, { owner, script, sighash }] of coins.entries()) {
    if (script === undefined) {
      made.signIdx(privateKey(owner), index, sighash === undefined ? undefined : [sighash]);
      made.finalizeIdx(index);
    } else {
      const witness = [shown(script), controlBlock(owner, script)];
      made.updateInput(index, { finalScriptWitness: witness }, true);
    }
  }
  return describe(made, payments);
}

/** Signs what somebody else has made of coins, which are in the order of its inputs; each belongs to a key. */
export function signed(
  unsigned: string,
  coins: readonly Coin[],
): { readonly hex: string; readonly vsize: number } {
  const made = Transaction.fromRaw(Buffer.from(unsigned, 'hex'), { allowUnknownOutputs: true });
  for (const [index, { value, owner }] of coins.entries()) {
    const witnessUtxo = { script: outputScriptOf(owner), amount: BigInt(value) };
    made.updateInput(index, { witnessUtxo, tapInternalKey: publicKey(owner) });
  }
  // a signature commits to all of them
  for (const [index, { owner }] of coins.entries()) {
    made.signIdx(privateKey(owner), index);
    made.finalizeIdx(index);
  }
  return { hex: made.hex, vsize: made.vsize };
}

function controlBlock(owner: number, script: Uint8Array): Uint8Array {
  const leaf = committed(owner, script).tapLeafScript?.[0];
  if (leaf === undefined) throw new Error('a commitment has a leaf');
  return TaprootControlBlock.encode(leaf[0]);
}

function describe(made: Transaction, payments: readonly NewOutput[]): RegtestTransaction {
  const txid = made.id;
  const coins = payments.map(({ value, to = 0, commit, outputScript }, vout): Coin | null => {
    if (outputScript !== undefined) return null;
    return { txid, vout, value, owner: to, ...(commit === undefined ? {} : { script: commit }) };
  });
  return {
    txid,
    hex: made.hex,
    fee: Number(made.fee),
    coins,
    coin: (vout) => {
      const coin = coins[vout];
      if (coin === null || coin === undefined) throw new Error(`output ${vout} cannot be spent`);
      return coin;
    },
    id: (index = 0) => `${txid}i${index}`,
  };
}

import { Address, p2tr, TaprootControlBlock, Transaction, utils } from '@scure/btc-signer';
import { type AddressType, privateKey, regtest, type TypedAddress, typedAddress } from './regtest-address.ts';

/**
 * An output that a test can spend with its owner's key. If the output commits to a script, the test reveals the script.
 */
export interface Coin {
  /** Display order. */
  readonly txid: string;
  readonly vout: number;
  /** Sats. */
  readonly value: number;
  readonly owner: number;
  readonly script?: Uint8Array;
  /** The signature type of the owner. If absent, the type is DEFAULT, or ALL for an address without DEFAULT. */
  readonly sighash?: number;
  /** The type of the coin's address. P2TR if absent. */
  readonly type?: AddressType;
}

/** An output to create. It pays to an owner's key, to a committed script, or to any output script. */
export interface NewOutput {
  readonly value: number;
  /** Default: 0. */
  readonly to?: number;
  /** The type of the owner's address. P2TR if absent. */
  readonly type?: AddressType;
  /** A tapscript, for example envelopes. `OP_TRUE` is appended. */
  readonly commit?: Uint8Array;
  readonly outputScript?: Uint8Array;
}

export interface RegtestTransaction {
  /** Display order. */
  readonly txid: string;
  readonly hex: string;
  /** Sats. */
  readonly fee: number;
  /** The outputs that `transaction` can spend. Outputs with other scripts are null. */
  readonly coins: readonly (Coin | null)[];
  /** The output with this index. Throws if the output cannot be spent. */
  coin(vout: number): Coin;
  /** The id of the transaction's n-th inscription. */
  id(index?: number): string;
}

/**
 * The script of an output that burns its value. Its four bytes of data make the smallest transaction long enough for a
 * mempool.
 */
export const burnScript = Uint8Array.of(0x6a, 0x04, 1, 2, 3, 4);

/** A sequence that signals replaceability (BIP 125), and sets no lock. */
const replaceable = 0xffff_fffd;
const opTrue = 0x51;

/**
 * The key of an owner. It is stored, because a transaction needs it for each coin and payment, and computing a point of
 * the curve takes a millisecond.
 */
interface OwnerKey {
  readonly publicKey: Uint8Array;
  /** The P2TR script without a script path. */
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

/** The output script of an owner's key (P2TR). If a script is given, the output also has a script path. */
const outputScriptOf = (owner: number, script?: Uint8Array): Uint8Array =>
  script === undefined ? keyOf(owner).script : committed(owner, script).script;

/** The commitments to a script, by owner. The payment, the coin and the witness of a script share one commitment. */
const commitments = new WeakMap<Uint8Array, Map<number, ReturnType<typeof committedBy>>>();

function committed(owner: number, script: Uint8Array): ReturnType<typeof committedBy> {
  const byOwner = commitments.get(script) ?? new Map<number, ReturnType<typeof committedBy>>();
  commitments.set(script, byOwner);
  const made = byOwner.get(owner) ?? committedBy(publicKey(owner), shown(script));
  byOwner.set(owner, made);
  return made;
}
// the only place that uses the overload of `p2tr` with a tree
const committedBy = (key: Uint8Array, script: Uint8Array) => p2tr(key, { script }, regtest, true);

/** The script that a commitment reveals. `OP_TRUE` at its end lets it succeed. */
const shown = (script: Uint8Array): Uint8Array => Buffer.concat([script, Buffer.from([opTrue])]);

/** The output script of an owner, as a copy for the caller. */
export const scriptOf = (owner: number, type: AddressType = 'p2tr'): Uint8Array =>
  (type === 'p2tr' ? outputScriptOf(owner) : typedAddress(owner, type).script).slice();

export const addressOf = (owner: number): string =>
  Address(regtest).encode({ type: 'tr', pubkey: keyIn(owner) });

const keyIn = (owner: number): Uint8Array => scriptOf(owner).slice(2);

/** A signed transaction. Its fee is the part of the coins that no payment gets. */
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
    // needed for inputs of P2PK, P2PKH and P2SH
    allowLegacyWitnessUtxo: true,
  });
  for (const coin of coins) {
    const { txid, vout, value, sighash } = coin;
    const { script, spending } = spendingOf(coin);
    const witnessUtxo = { script, amount: BigInt(value) };
    const sighashType = sighash === undefined ? {} : { sighashType: sighash };
    made.addInput({ txid, index: vout, witnessUtxo, sequence, ...spending, ...sighashType });
  }
  for (const payment of payments) {
    made.addOutput({ script: paidScript(payment), amount: BigInt(payment.value) });
  }
  for (const [index, coin] of coins.entries()) signCoin(made, index, coin);
  return describe(made, payments);
}

function paidScript({ to = 0, type = 'p2tr', commit, outputScript }: NewOutput): Uint8Array {
  if (outputScript !== undefined) return outputScript;
  return type === 'p2tr' ? outputScriptOf(to, commit) : typedAddress(to, type).script;
}

function signCoin(made: Transaction, index: number, coin: Coin): void {
  const { owner, script, sighash, type = 'p2tr' } = coin;
  if (type !== 'p2tr') {
    signTyped(made, index, coin, type);
  } else if (script === undefined) {
    made.signIdx(privateKey(owner), index, sighash === undefined ? undefined : [sighash]);
    made.finalizeIdx(index);
  } else {
    const witness = [shown(script), controlBlock(owner, script)];
    made.updateInput(index, { finalScriptWitness: witness }, true);
  }
}

/** The output script of a coin, and the data that its input needs. */
function spendingOf({ owner, script, type = 'p2tr' }: Coin): Pick<TypedAddress, 'script' | 'spending'> {
  if (type !== 'p2tr') return typedAddress(owner, type);
  const spending = script === undefined ? { tapInternalKey: publicKey(owner) } : {};
  return { script: outputScriptOf(owner, script), spending };
}

/**
 * Signs an input. The owner's key signs with the coin's type. The second key of a shared address signs with the
 * default.
 */
function signTyped(made: Transaction, index: number, { owner, sighash }: Coin, type: AddressType): void {
  const [first, ...others] = typedAddress(owner, type).signers;
  const defaultType = type.startsWith('p2tr') ? 0 : 1;
  made.signIdx(first!, index, [sighash ?? defaultType]);
  for (const signer of others) {
    made.updateInput(index, { sighashType: defaultType }, true);
    made.signIdx(signer, index, [defaultType]);
  }
  made.finalizeIdx(index);
}

/**
 * Signs a transaction that someone else made. The coins are in the order of its inputs, and each coin belongs to a key.
 */
export function signed(
  unsigned: string,
  coins: readonly Coin[],
): { readonly hex: string; readonly vsize: number } {
  const made = Transaction.fromRaw(Buffer.from(unsigned, 'hex'), { allowUnknownOutputs: true });
  for (const [index, { value, owner }] of coins.entries()) {
    const witnessUtxo = { script: outputScriptOf(owner), amount: BigInt(value) };
    made.updateInput(index, { witnessUtxo, tapInternalKey: publicKey(owner) });
  }
  // each signature commits to all coins
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
  const coins = payments.map(({ value, to = 0, type, commit, outputScript }, vout): Coin | null => {
    if (outputScript !== undefined) return null;
    const script = commit === undefined ? {} : { script: commit };
    return { txid, vout, value, owner: to, ...script, ...(type === undefined ? {} : { type }) };
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

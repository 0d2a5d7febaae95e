import { Address, p2tr, TaprootControlBlock, Transaction, utils } from '@scure/btc-signer';
import { type AddressType, privateKey, regtest, type TypedAddress, typedAddress } from './regtest-address.ts';

/** An output that a test can spend: with its owner's key or, if it commits to a script, by revealing the script. */
export interface Coin {
  /** Display order. */
  readonly txid: string;
  readonly vout: number;
  /** Sats. */
  readonly value: number;
  readonly owner: number;
  readonly script?: Uint8Array;
  /** The signature type of its owner; absent: DEFAULT, or ALL if the type has no DEFAULT. */
  readonly sighash?: number;
  /** The type of its address; absent: P2TR. */
  readonly type?: AddressType;
}

/** An output to create: to an owner's key, to a committed script, or to any output script. */
export interface NewOutput {
  readonly value: number;
  /** Default: 0. */
  readonly to?: number;
  /** The type of the owner's address; absent: P2TR. */
  readonly type?: AddressType;
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

/** Signals replaceability (BIP 125), without a lock. */
const replaceable = 0xffff_fffd;
const opTrue = 0x51;

/** Key of an owner. A transaction needs it for each coin and payment, and a point of the curve takes a millisecond. */
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

/** The commitments to a script by owner: its payment, its coin and its witness share one. */
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

/** The output script of an owner, as a copy for the caller. */
export const scriptOf = (owner: number, type: AddressType = 'p2tr'): Uint8Array =>
  (type === 'p2tr' ? outputScriptOf(owner) : typedAddress(owner, type).script).slice();

export const addressOf = (owner: number): string =>
  Address(regtest).encode({ type: 'tr', pubkey: keyIn(owner) });

const keyIn = (owner: number): Uint8Array => scriptOf(owner).slice(2);

/** A signed transaction. Its fee is the sats of the coins that the payments leave. */
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
    // the inputs of P2PK, P2PKH and P2SH
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

/** The owner's key signs with the coin's type, and the second key of a shared address with the default. */
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
 * Signs a transaction that someone else made of coins. The coins are in the order of its inputs; each belongs to a key.
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

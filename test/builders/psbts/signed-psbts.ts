import { Transaction } from '@scure/btc-signer';
import { type AddressType, typedAddress } from '#test/builders/regtest/regtest-address.ts';

/** An input of a PSBT: the owner and type of the spent output, and the signature type. */
export interface PsbtCoin {
  readonly owner: number;
  readonly type: AddressType;
  readonly value: bigint;
  /** `null` means the default of the coin's type. */
  readonly sighash: number | null;
}

export interface PsbtPayment {
  readonly coins: readonly PsbtCoin[];
  readonly outputs: readonly { readonly script: Uint8Array; readonly value: bigint }[];
  readonly lockTime: number;
}

const isLegacy = (type: AddressType): boolean => type === 'p2pkh' || type === 'p2pk' || type === 'p2sh-2of2';
const anyType = [0, 1, 2, 3, 0x81, 0x82, 0x83];

/** An unsigned PSBT. Each coin is the only output of its own transaction. */
export function unsignedPsbt({ coins, outputs, lockTime }: PsbtPayment): Transaction {
  const psbt = new Transaction({ lockTime, allowLegacyWitnessUtxo: true, disableScriptCheck: true });
  for (const [place, { owner, type, value, sighash }] of coins.entries()) {
    const { script, spending } = typedAddress(owner, type);
    const previous = new Transaction({ disableScriptCheck: true });
    previous.addInput({ txid: new Uint8Array(32).fill(place + 1), index: place });
    previous.addOutput({ script, amount: value });
    psbt.addInput({
      txid: previous.id,
      index: 0,
      sequence: 0xffff_fffd,
      ...(isLegacy(type)
        ? { nonWitnessUtxo: previous.toBytes(true) }
        : { witnessUtxo: { script, amount: value } }),
      ...(sighash === null ? {} : { sighashType: sighash }),
      ...spending,
    });
  }
  for (const { script, value } of outputs) psbt.addOutput({ script, amount: value });
  return psbt;
}

/** Signs an input with one of its keys, or with all of them. */
export function signInput(
  psbt: Transaction,
  place: number,
  { owner, type }: PsbtCoin,
  key: number | null = null,
): void {
  const { signers } = typedAddress(owner, type);
  for (const [index, signer] of signers.entries())
    if (key === null || key === index) psbt.signIdx(signer, place, anyType);
}

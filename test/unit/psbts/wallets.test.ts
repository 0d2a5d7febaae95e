import { Transaction } from '@scure/btc-signer';
import { describe, expect, test } from 'vitest';
import { atOnce } from '#kernel/concurrency/work-in-steps.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { type FinalTransaction, finalizePsbt } from '#psbts/bytes/finalize-psbt.ts';
import { PsbtFaults } from '#psbts/bytes/psbt-faults.ts';
import { psbtBytes } from '#psbts/bytes/psbt-text.ts';
import { writePsbt } from '#psbts/bytes/write-psbt.ts';
import { inputsOf, psbtPlan } from '#psbts/planning/psbt-plan.ts';
import { customerAddress, type PaymentType, signerOf } from '#test/support/psbts/customer-address.ts';
import {
  argumentsOf,
  type CallValues,
  signedPsbtIn,
  type WalletCall,
  walletCalls,
} from '#test/support/psbts/wallet-calls.ts';
import { callWallet, type WalletAccount, WalletRefusal } from '#test/support/psbts/wallets.ts';

/** Makes an account and a PSBT of this service for it. The PSBT spends a special sat first, then two coins that pay. */
function asked(
  type: PaymentType,
  addresses: WalletCall['addresses'],
): { account: WalletAccount; values: CallValues } {
  const ordinals = customerAddress(70_001);
  const payment = addresses === 'one' ? ordinals : customerAddress(70_000, type);
  const coin = (byte: number, value: bigint, role: 'payment' | 'ordinals') => ({
    txid: asTxid(new Uint8Array(32).fill(byte)),
    vout: byte,
    value,
    signer: signerOf(role === 'payment' ? payment : ordinals, role),
    blockHash: null,
  });
  const plan = psbtPlan({
    inputs: [coin(1, 10_000n, 'ordinals'), coin(2, 50_000n, 'payment'), coin(3, 30_000n, 'payment')],
    outputs: [
      { script: customerAddress(70_002).script, value: 60_000n, purpose: 'charge' },
      { script: payment.script, value: 29_000n, purpose: 'change' },
    ],
  });
  const { base64, hex } = writePsbt(plan, new Map());
  return {
    account: { payment, ordinals },
    values: {
      psbtBase64: base64,
      psbtHex: hex,
      ordinalInputIndices: inputsOf(plan, 'ordinals'),
      paymentInputIndices: inputsOf(plan, 'payment'),
      allInputIndices: [...plan.inputs.keys()],
      ordinalAddress: ordinals.address,
      paymentAddress: payment.address,
    },
  };
}

function finalized(...signed: readonly string[]): FinalTransaction {
  const [first, ...others] = signed.map((text) => atOnce(psbtBytes(text, 'psbt')));
  return atOnce(finalizePsbt([first!, ...others], networks.regtest));
}
function faultsOf(...signed: readonly string[]): readonly string[] {
  try {
    finalized(...signed);
  } catch (error) {
    if (error instanceof PsbtFaults) return error.faults;
    throw error;
  }
  return [];
}

const cases = walletCalls.flatMap((call) =>
  call.paymentTypes.map((type) => ({ name: `${call.wallet} ${call.call}, ${type}`, call, type })),
);

describe('common wallets', () => {
  test.each(cases)('sign the PSBTs that they get: $name', async ({ call, type }) => {
    const { account, values } = asked(type, call.addresses);
    const returned = await callWallet(call, account, argumentsOf(call, values));
    const signed = signedPsbtIn(call, returned);
    const [encoding] = typeof call.returns === 'string' ? [call.returns] : Object.values(call.returns);
    expect(signed).toMatch(encoding === 'hex' ? /^70736274ff/u : /^cHNidP8/u);
    const psbt = Transaction.fromPSBT(Buffer.from(signed, encoding));
    expect(psbt.isFinal).toBe(call.isFinal);
    const { fee, warnings } = finalized(signed);
    expect([fee, warnings]).toEqual([1000n, []]);
  });

  test('send it themselves if told to', async () => {
    for (const call of walletCalls.filter(({ arguments: [first] }) =>
      JSON.stringify(first).includes('broadcast'),
    )) {
      const { account, values } = asked('p2wpkh', call.addresses);
      const told = JSON.parse(
        JSON.stringify(argumentsOf(call, values)).replace('"broadcast":false', '"broadcast":true'),
      ) as unknown[];
      const sent: string[] = [];
      const returned = await callWallet(call, account, told, async (hex) => {
        sent.push(hex);
        return 'the txid';
      });
      expect(Object.values(returned as object)).toContain('the txid');
      const { bytes } = finalized(signedPsbtIn(call, returned));
      expect(sent).toEqual([Buffer.from(bytes).toString('hex')]);
    }
  });

  test('refuse requests that are not for them', async () => {
    const { account, values } = asked('p2wpkh', 'two');
    const refusal = async (wallet: WalletCall['wallet'], ...given: readonly unknown[]): Promise<string> => {
      const outcome = await callWallet({ wallet, call: 'signPsbt' }, account, given).then(
        () => 'signed',
        (error: unknown) => error,
      );
      if (outcome instanceof WalletRefusal) return outcome.message;
      throw new Error(`${wallet}: ${String(outcome)}`);
    };
    const { psbtBase64, psbtHex, paymentAddress, ordinalAddress } = values as Record<string, string>;
    const both = { [ordinalAddress!]: [0], [paymentAddress!]: [1, 2] };
    expect(await refusal('Xverse', { psbt: psbtHex, signInputs: both })).toMatch(/magic/u);
    expect(await refusal('Xverse', { psbt: psbtBase64, signInputs: { [paymentAddress!]: [0] } })).toBe(
      'No taproot scripts signed',
    );
    expect(await refusal('Leather', { hex: psbtBase64 })).toBe('Invalid PSBT hex');
    const [ordinals, others] = [
      { index: 0, address: ordinalAddress },
      { index: 1, address: paymentAddress },
    ];
    expect(await refusal('UniSat', psbtHex, { toSignInputs: [ordinals, others] })).toBe(
      'invalid address in toSignInput',
    );
    // account keys have 33 bytes; keys in our responses and requests may have 32
    const key = { index: 0, publicKey: account.ordinals.publicKey };
    expect(await refusal('UniSat', psbtHex, { toSignInputs: [key] })).toBe(
      'invalid public key in toSignInput',
    );
    expect(await refusal('UniSat', 'not a psbt')).toBe('invalid psbt');
    expect(await refusal('OKX', psbtHex, { toSignInputs: [others] })).toMatch(
      /Can not sign for this input with the key/u,
    );
  });

  test('sign one after the other, or each a PSBT of its own', async () => {
    const { account, values } = asked('p2wpkh', 'two');
    const { psbtHex, ordinalInputIndices, paymentInputIndices } = values as {
      readonly psbtHex: string;
      readonly ordinalInputIndices: readonly number[];
      readonly paymentInputIndices: readonly number[];
    };
    const signers = [
      { own: account.ordinals, indices: ordinalInputIndices },
      { own: account.payment, indices: paymentInputIndices },
    ];
    for (const wallet of ['UniSat', 'OKX'] as const)
      for (const autoFinalized of [true, false]) {
        const signedBy = async (
          text: string,
          { own, indices }: (typeof signers)[number],
        ): Promise<string> => {
          const toSignInputs = indices.map((index) => ({ index, address: own.address }));
          const account = { payment: own, ordinals: own };
          const given = [text, { autoFinalized, toSignInputs }];
          return (await callWallet({ wallet, call: 'signPsbt' }, account, given)) as string;
        };
        const apart = await Promise.all(signers.map((signer) => signedBy(psbtHex, signer)));
        expect(finalized(...apart)).toMatchObject({ fee: 1000n, warnings: [] });
        const chained = await signedBy(apart[0]!, signers[1]!);
        expect(finalized(chained)).toMatchObject({ fee: 1000n, warnings: [] });
        expect(faultsOf(apart[0]!)).toEqual(
          paymentInputIndices.map((index) => `Input ${index} is not signed by ${account.payment.address}.`),
        );
      }
  });

  test('leave out inputs that they cannot sign, and finalizing names these', async () => {
    const { account, values } = asked('p2sh-p2wpkh', 'two');
    // Leather has no such address type, so it signs with another address
    const leather = { ...account, payment: customerAddress(70_009, 'p2wpkh') };
    const { hex } = (await callWallet({ wallet: 'Leather', call: 'signPsbt' }, leather, [
      { hex: values['psbtHex'] },
    ])) as { hex: string };
    expect(faultsOf(hex)).toEqual(
      [1, 2].map((index) => `Input ${index} is not signed by ${account.payment.address}.`),
    );
  });
});

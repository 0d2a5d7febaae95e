import { bitcoin } from './order-model.ts';
import { addUnits, type Units } from './rune-model.ts';

/** A withdrawal with the promises of the service's response. */
export interface ModelWithdrawal {
  readonly id: string;
  readonly account: string;
  /** The txid of the etching of the withdrawal's rune, or `BTC`. */
  readonly token: string;
  /** Requested base units. */
  readonly amount: bigint;
  /** Sats of the withdrawal's price. */
  readonly fee: bigint;
  readonly postage: bigint;
  readonly payer: string;
}

/** An output of the final chain at the address of a withdrawal. Each withdrawal of a run has its own address. */
export interface ReceivedOutput {
  readonly outpoint: string;
  readonly sats: bigint;
  readonly runes: Units;
}

/** Everything that a withdrawal takes from its account, by token. Pure. */
export function takenBy({
  token,
  amount,
  fee,
  postage,
  payer,
}: Omit<ModelWithdrawal, 'id' | 'account'>): Units {
  const taken = new Map<string, bigint>();
  addUnits(taken, token, amount);
  if (payer === 'balance') addUnits(taken, bitcoin, fee + postage);
  return taken;
}

/** Sats of the output that its receiver gets. Pure. */
export const satsToReceiver = ({
  token,
  amount,
  fee,
  postage,
  payer,
}: Omit<ModelWithdrawal, 'id' | 'account'>): bigint =>
  token !== bitcoin ? postage : payer === 'withdrawal' ? amount - fee : amount;

/** Differences between the state of a withdrawal at the end and the outputs at its address on the chain. Pure. */
export function withdrawalEndFaults(
  withdrawal: ModelWithdrawal,
  state: string,
  received: readonly ReceivedOutput[],
): string[] {
  const { id, token, amount } = withdrawal;
  if (state !== 'completed' && state !== 'error') return [`the withdrawal ${id} is ${state} at the end`];
  const wanted = state === 'completed' ? 1 : 0;
  if (received.length !== wanted)
    return [`the withdrawal ${id} is ${state}, and ${received.length} outputs are at its address`];
  return received.flatMap(({ outpoint, sats, runes }) => {
    const units = [...runes].map(([rune, got]) => `${rune}:${got}`).join(' ');
    const promised = token === bitcoin ? '' : `${token}:${amount}`;
    return [
      ...(sats === satsToReceiver(withdrawal)
        ? []
        : [
            `the withdrawal ${id} brought ${sats} sats in ${outpoint}, and not ${satsToReceiver(withdrawal)}`,
          ]),
      ...(units === promised
        ? []
        : [`the withdrawal ${id} brought "${units}" in ${outpoint}, and not "${promised}"`]),
    ];
  });
}

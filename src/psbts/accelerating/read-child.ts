import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Faulty, isGiven, RequestValues } from '#kernel/requests/request-values.ts';
import { readFeeRate } from '#psbts/planning/fee-rate.ts';
import { readOutpoint } from '#psbts/planning/read-outpoint.ts';
import { readSignerOf } from '#psbts/signers/read-signers.ts';
import type { WantedChild } from './build-child.ts';

/** Reads the body of a request to `/cpfp`. Total. */
export function readChild(body: unknown, network: NetworkParameters): WantedChild | Faulty {
  const values = new RequestValues();
  const fields = values.object(body ?? {}, 'the body') ?? {};
  const of = sourceOf(values, fields);
  const payment = readSignerOf(values, fields, 'payment', network);
  const feeRate = readFeeRate(values, 'feeRate', fields['feeRate']);
  if (of === null || payment === null || values.faults.length > 0)
    return { kind: 'faulty', faults: values.faults };
  return { kind: 'child', of, payment, feeRate };
}

function sourceOf(
  values: RequestValues,
  { utxo: named, orderId }: Readonly<Record<string, unknown>>,
): WantedChild['of'] | null {
  if (isGiven(named) && isGiven(orderId))
    return values.fault('orderId', 'and utxo exclude each other; send only one of them');
  const id = values.text(orderId, 'orderId');
  const utxo = readOutpoint(values, 'utxo', named);
  if (utxo !== null) return { kind: 'utxo', utxo };
  if (id !== null) return { kind: 'order', id };
  return isGiven(named) || isGiven(orderId) ? null : values.sentence('utxo', 'utxo or orderId is required.');
}

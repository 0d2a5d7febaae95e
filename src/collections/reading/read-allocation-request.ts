import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Faulty, RequestValues } from '#kernel/requests/request-values.ts';

/** A request for the items that an address may buy. */
export interface AllocationRequest {
  readonly kind: 'read';
  readonly id: string;
  readonly script: Uint8Array;
}

/** Reads the request. Never throws: any value gives a request or its faults. */
export function readAllocationRequest(body: unknown, network: NetworkParameters): AllocationRequest | Faulty {
  const values = new RequestValues();
  const given = values.object(body, 'the body');
  if (given === null) return { kind: 'faulty', faults: values.faults };
  const id = values.text(given['id'], 'id');
  if (id === null) values.required(given['id'], 'id');
  const address = values.text(given['receiveAddress'], 'receiveAddress');
  if (address === null) values.required(given['receiveAddress'], 'receiveAddress');
  const parsed = address === null ? null : parseAddress(address, network);
  if (parsed?.kind === 'refused') values.fault('receiveAddress', parsed.reason);
  return id === null || parsed?.kind !== 'script' || values.faults.length > 0
    ? { kind: 'faulty', faults: values.faults }
    : { kind: 'read', id, script: parsed.script };
}

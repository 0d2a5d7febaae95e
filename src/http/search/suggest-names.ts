import type pg from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { inscriptionDetail } from '#chain/inscriptions/inscription.queries.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import { type BlockHash, parseBlockHash, parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import { isHeight } from '#kernel/primitives/height.ts';
import { formatInscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/** A thing that a text names. */
export interface SuggestedName {
  readonly kind: 'inscription' | 'block' | 'address' | 'hash';
  /** Its label in a list. */
  readonly name: string;
  /** Its URL. */
  readonly path: string;
}

/**
 * What a whole text names: an inscription by number or id, a block by height or hash, an address, else the hash of a
 * file.
 */
export async function namesOf(
  client: pg.ClientBase,
  network: NetworkParameters,
  text: string,
): Promise<SuggestedName[]> {
  const trimmed = text.trim();
  const number = /^#?(-?\d{1,9})$/u.exec(trimmed)?.[1];
  if (number !== undefined) return numbered(client, Number(number), trimmed.startsWith('#'));
  const id = parseInscriptionId(trimmed);
  if (id !== null) {
    const found = await inscriptionDetail(client, { kind: 'id', id });
    return found === null ? [] : [inscriptionName(formatInscriptionId(id.txid, id.index), found.number)];
  }
  const hash = parseBlockHash(trimmed);
  const txid = parseTxid(trimmed);
  if (hash !== null && txid !== null) return hashed(client, { hash, txid }, trimmed.toLowerCase());
  const isAddress = trimmed.length <= 100 && parseAddress(trimmed, network).kind === 'script';
  return isAddress ? [{ kind: 'address', name: trimmed, path: `/address/${trimmed}` }] : [];
}

async function numbered(
  client: pg.ClientBase,
  number: number,
  isInscription: boolean,
): Promise<SuggestedName[]> {
  const detail = await inscriptionDetail(client, { kind: 'number', number });
  const block =
    isHeight(number) && !isInscription ? await blockAt(client, { kind: 'height', height: number }) : null;
  const names: SuggestedName[] = [];
  if (detail !== null)
    names.push(inscriptionName(formatInscriptionId(detail.id.txid, detail.id.index), number));
  if (block !== null)
    names.push({ kind: 'block', name: `Block ${block.height}`, path: `/block/${block.height}` });
  return names;
}

/** What 64 hex digits name: a block, the first inscription of a transaction, or a content. */
async function hashed(
  client: pg.ClientBase,
  { hash, txid }: { readonly hash: BlockHash; readonly txid: Txid },
  hex: string,
): Promise<SuggestedName[]> {
  const block = await blockAt(client, { kind: 'hash', hash });
  if (block !== null)
    return [{ kind: 'block', name: `Block ${block.height}`, path: `/block/${block.height}` }];
  const first = await inscriptionDetail(client, { kind: 'id', id: { txid, index: 0 } });
  if (first !== null) return [inscriptionName(`${hex}i0`, first.number)];
  return [{ kind: 'hash', name: 'Contents with this hash', path: `/?hash=${hex}` }];
}

const inscriptionName = (id: string, number: number | null): SuggestedName => ({
  kind: 'inscription',
  name: number === null ? `Inscription ${id}` : `Inscription #${number}`,
  path: `/inscription/${id}`,
});

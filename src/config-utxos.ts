import { type Static, Type } from 'typebox';
import { inventoryTypes, parseBaseFees } from '#inventory/inventory-types.ts';

/** Settings of unspent outputs and of the inventory, for the schema of all settings. */
export const utxoSettings = {
  utxoSource: Type.Enum(['auto', 'index', 'esplora', 'node'], {
    default: 'auto',
    description:
      'where unspent outputs of addresses come from: `index` (--index-addresses), `esplora` (ESPLORA_URL), `node` (it scans all of them, minutes on mainnet); `auto`: the first of these that there is (docs/utxos.md)',
  }),
  esploraUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^@?#]+$',
      maxLength: 4096,
      secret: true,
      description:
        'API of a server with the interface of Esplora, as https://mempool.example.com/api, for unspent outputs of addresses; it may be in a private network',
    }),
  ),
  inventoryDescriptor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      secret: true,
      description:
        'output descriptor with public keys: its addresses, of a range the first 1,000, hold the operator’s special sats (docs/inventory.md)',
    }),
  ),
  inventoryBaseFees: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9]+:[0-9]+(,[a-z0-9]+:[0-9]+)*$',
      maxLength: 1024,
      description:
        'prices in sats of an inscription on a sat of these types, as `uncommon:20000,pizza:4000`; the others keep theirs (docs/inventory.md)',
    }),
  ),
};

const schema = Type.Object(utxoSettings);

/** What is wrong with them together, or beyond their schema. */
export function wrongUtxoSettings({
  utxoSource,
  esploraUrl,
  inventoryBaseFees,
}: Static<typeof schema>): string[] {
  const wrong: string[] = [];
  if (esploraUrl !== undefined && !URL.canParse(esploraUrl)) wrong.push('ESPLORA_URL: it is not a URL');
  if (utxoSource === 'esplora' && esploraUrl === undefined)
    wrong.push('UTXO_SOURCE esplora needs ESPLORA_URL');
  if (inventoryBaseFees !== undefined && parseBaseFees(inventoryBaseFees) === null) {
    const types = inventoryTypes.join(', ');
    wrong.push(`INVENTORY_BASE_FEES: sats are at most 100000000, and types are ${types}`);
  }
  return wrong;
}

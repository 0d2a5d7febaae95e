import { type Static, Type } from 'typebox';
import { inventoryTypes, parseBaseFees } from '#inventory/inventory-types.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** Settings of unspent outputs and of the inventory. They are part of the schema of all settings. */
export const utxoSettings = {
  utxoSource: Type.Enum(['auto', 'index', 'esplora', 'node'], {
    default: 'auto',
    description:
      'source of the unspent outputs of addresses: `index` (--index-addresses), `esplora` (ESPLORA_URL), or `node` (it scans all outputs, which takes minutes on mainnet); `auto` uses the first of these that is available (docs/utxos.md)',
  }),
  esploraUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^@?#]+$',
      maxLength: 4096,
      secret: true,
      description:
        'URL of a server with the API of Esplora, as https://mempool.example.com/api, for the unspent outputs of addresses; it may be in a private network',
    }),
  ),
  satributesFile: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'JSON file with the operator’s rules for satributes that have no rule, the same file for all processes; it is read at the start (docs/satributes.md, "Rules of the operator")',
    }),
  ),
  inventoryDescriptor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      secret: true,
      description:
        'output descriptor with public keys; the operator’s special sats are at its addresses, at the first 1,000 of a range (docs/inventory.md)',
    }),
  ),
  inventoryBaseFees: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9]+:[0-9]+(,[a-z0-9]+:[0-9]+)*$',
      maxLength: 1024,
      description:
        'prices of an inscription on a sat of these types, in sats, as `uncommon:20000,pizza:4000`; other types keep their prices (docs/inventory.md)',
    }),
  ),
};

const schema = Type.Object(utxoSettings);

/** The form of an output descriptor (BIP 380). A checksum is optional. The node checks the content. */
const descriptorForm = /^[a-z]+\(.+\)(#[a-z0-9]{8})?$/u;

/** Finds contradictions between these settings, and faults that their schema cannot check. */
export function wrongUtxoSettings({
  utxoSource,
  esploraUrl,
  inventoryDescriptor,
  inventoryBaseFees,
}: Static<typeof schema>): string[] {
  const wrong: string[] = [];
  if (esploraUrl !== undefined && !URL.canParse(esploraUrl)) wrong.push('ESPLORA_URL is not a URL');
  if (utxoSource === 'esplora' && esploraUrl === undefined)
    wrong.push('UTXO_SOURCE esplora needs ESPLORA_URL');
  if (inventoryDescriptor !== undefined && !descriptorForm.test(inventoryDescriptor))
    wrong.push('INVENTORY_DESCRIPTOR is not an output descriptor such as tr(xpub…/0/*)');
  if (inventoryBaseFees !== undefined && parseBaseFees(inventoryBaseFees) === null) {
    const types = inventoryTypes.join(', ');
    wrong.push(`INVENTORY_BASE_FEES: an amount is at most 100000000 sats, and the types are ${types}`);
  }
  return wrong;
}

/**
 * Checks the source of unspent outputs of a process that indexes and answers requests. Such a process has no index of
 * addresses except its own. Commands are not checked, because they may run beside a process that got --index-addresses
 * as a flag. Throws `config_invalid`.
 */
export function checkServedUtxos({
  role,
  utxoSource,
  indexAddresses,
}: Pick<Static<typeof schema>, 'utxoSource'> & {
  readonly role: string;
  readonly indexAddresses: boolean;
}): void {
  if (role === 'all' && utxoSource === 'index' && !indexAddresses)
    throw new AppError('config_invalid', 'UTXO_SOURCE index needs --index-addresses (INDEX_ADDRESSES)');
}

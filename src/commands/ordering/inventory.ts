import type { ListedInventory, ScannedOutput } from '#inventory/inventory.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import { type Command, type CommandContext, UsageError, wrongSubcommand } from '#src/app/command-context.ts';
import type { InventoryAction } from '#src/app/sats/inventory.ts';
import { settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

export const inventoryCommand: Command = {
  name: 'inventory',
  object: null,
  operands: 'add|list|scan|remove|address',
  summary: 'show and change the inventory: your outputs with special sats, for orders',
  details: `The inventory has the special sats that orders may use and that GET /inventory counts. They are in outputs
at addresses of the wallet. INVENTORY_DESCRIPTOR names more addresses of yours: outputs there are only
listed, and no order uses them.

  address  shows an address for your outputs. Add a number from 0 to 99 for another address.
  add      adds an output to the inventory. The output must be unspent, yours, old enough, free of
           inscriptions and runes, and must hold sats of the types of the inventory.
  scan     adds all such outputs of yours, and removes spent outputs.
  list     shows which outputs orders can use now, and why others cannot be used.
  remove   removes an output from the inventory. The output itself does not move.

add, scan and list need the node. All actions may run beside a service (docs/inventory.md). Orders of
special sats need INDEX_SATS.

  satscribe inventory address
  satscribe inventory scan --cookie-file ~/.bitcoin/.cookie
  satscribe inventory add f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16:1
  satscribe inventory list --json`,
  flags: [
    jsonFlag,
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('network', 'NAME'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runInventory,
};

/** Number of outputs that must follow each action on the command line. */
const operandsOf: Readonly<Record<InventoryAction, number>> = { add: 1, list: 0, scan: 0, remove: 1 };

const isAction = (word: string): word is InventoryAction => Object.hasOwn(operandsOf, word);

async function runInventory(context: CommandContext): Promise<void> {
  const { flags, words, print } = context;
  const [action = '', output = '', extra] = words;
  if (!isAction(action) && action !== 'address') {
    throw wrongSubcommand(action, 'satscribe inventory add, list, scan, remove or address');
  }
  if (action === 'address') return showAddress(context, words.slice(1));
  const operands = operandsOf[action];
  const unexpected = operands === 0 && output !== '' ? output : extra;
  if (unexpected !== undefined)
    throw new UsageError(`unexpected word ${unexpected}; satscribe inventory --help shows the usage`);
  const outpoint = operands === 0 ? null : outpointOf(action, output);
  const isJson = flags['json'] !== undefined;
  // loaded here, so that help and usage errors do not load it
  const { withInventory } = await import('#src/app/sats/inventory.ts');
  await withInventory(context, action, async (inventory, asker) => {
    if (outpoint !== null && action === 'add') {
      const added = await inventory.add(outpoint, asker);
      await print(isJson ? `${JSON.stringify(listedJson(added))}\n` : `added ${listedText(added)}`);
    } else if (outpoint !== null) {
      await inventory.remove(outpoint);
      await print(isJson ? `${JSON.stringify({ removed: output })}\n` : `removed ${output}\n`);
    } else if (action === 'list') {
      const listed = await inventory.list(asker);
      await printEach(context, listed.map(listedJson), listed.map(listedText), nothingListed);
    } else {
      const scanned = await inventory.scan(asker);
      await printEach(context, scanned, scanned.map(scannedText), nothingFound);
    }
  });
}

const nothingListed =
  'The inventory is empty. Find outputs with satscribe inventory scan, or add one with satscribe inventory add.\n';
const nothingFound =
  'You have no outputs. Send some to an address of satscribe inventory address, and scan again once they are mined.\n';

/** Prints a line for each output, or all outputs as JSON. If there is no output, says so on stderr. */
async function printEach(
  { flags, print }: CommandContext,
  json: readonly object[],
  lines: readonly string[],
  nothing: string,
): Promise<void> {
  if (flags['json'] !== undefined) return print(`${JSON.stringify(json)}\n`);
  if (lines.length === 0) process.stderr.write(nothing);
  await print(lines.join(''));
}

async function showAddress(context: CommandContext, [word = '0', extra]: readonly string[]): Promise<void> {
  const index = /^\d{1,2}$/u.test(word) ? Number(word) : null;
  if (index === null || extra !== undefined)
    throw new UsageError(`unexpected word ${extra ?? word}; use satscribe inventory address [0 to 99]`);
  const { inventoryAddress } = await import('#src/app/sats/inventory.ts');
  const address = await inventoryAddress(context, index);
  const isJson = context.flags['json'] !== undefined;
  await context.print(isJson ? `${JSON.stringify({ index, address })}\n` : `${address}\n`);
}

function outpointOf(action: string, text: string): { txid: ReturnType<typeof requireTxid>; vout: number } {
  const [, txid = '', vout = ''] = /^([0-9a-fA-F]{64}):(\d{1,10})$/u.exec(text) ?? [];
  const index = Number(vout);
  if (txid === '' || index > 0xffff_ffff)
    throw new UsageError(
      `${text === '' ? 'missing output' : `${text} is not an output`}; use satscribe inventory ${action} <txid>:<index>`,
    );
  return { txid: requireTxid(txid), vout: index };
}

function requireTxid(text: string) {
  const txid = parseTxid(text);
  if (txid === null) throw new UsageError(`${text} is not the id of a transaction`);
  return txid;
}

function listedJson({ output, problem, sats }: ListedInventory) {
  const { txid, vout, value, height, ranges, addedAt } = output;
  const outpoint = `${displayHash(txid)}:${vout}`;
  return { outpoint, value, height, counts: problem === null, problem, sats, ranges, addedAt };
}

function listedText({ output: { txid, vout, value, height }, problem, sats }: ListedInventory): string {
  const held = Object.entries(sats).map(([type, count]) => `${type} ${count}`);
  const state = problem === null ? '' : `  cannot be used: ${problem}`;
  return `${displayHash(txid)}:${vout}  ${value} sats  block ${height}  ${held.join(', ')}${state}\n`;
}

const scannedText = ({ outpoint, result, reason }: ScannedOutput): string =>
  `${result} ${outpoint}${reason === null ? '' : `: ${terminalText(reason)}`}\n`;

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
  summary: 'outputs with special sats of your own, for orders, and where to send them',
  details: `The special sats that orders may use, and that GET /inventory counts: outputs at addresses of the
wallet. The action address shows one (address 3 is another one, from 0 to 99). INVENTORY_DESCRIPTOR says which
other addresses are yours: outputs there are listed, and no order uses them. add notes an output, if it is
unspent, yours, of age, free of inscriptions and runes, and holds sats of the types of the inventory. scan
does so for all your outputs, and removes those that are spent. list says which of them count now, or why not.
remove forgets one; the output stays where it is. add, scan and list ask the node. All of them may run beside
a service (docs/inventory.md). Orders need INDEX_SATS.

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
  'The inventory is empty: satscribe inventory scan looks for outputs, and satscribe inventory add notes one.\n';
const nothingFound =
  'There are no outputs of yours: send some to satscribe inventory address, and scan once they are mined.\n';

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
    throw new UsageError(`${extra ?? word}? satscribe inventory address [0 to 99]`);
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
      `${text === '' ? 'which output' : text}? satscribe inventory ${action} <txid>:<index>`,
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
  const state = problem === null ? '' : `  does not count: ${problem}`;
  return `${displayHash(txid)}:${vout}  ${value} sats  block ${height}  ${held.join(', ')}${state}\n`;
}

const scannedText = ({ outpoint, result, reason }: ScannedOutput): string =>
  `${result} ${outpoint}${reason === null ? '' : `: ${terminalText(reason)}`}\n`;

import type { App } from '#http/server/routes/app-dependencies.ts';
import type { GoldenChain, GoldenTip } from '#test/support/chain/golden/golden-chain.ts';
import { exactJson } from '#test/support/exact-json.ts';

/*
 * The fields that the wallet of ord 0.29.1 reads from its server, by the rules of serde. Sources are src/api.rs,
 * src/templates/{status,rune}.rs, src/index/entry.rs, src/properties.rs, and charm.rs, pile.rs, terms.rs of ordinals
 * 0.0.17. The paths come from src/wallet.rs, src/wallet/wallet_constructor.rs and src/subcommand/wallet/sweep.rs.
 */

/** Reads a JSON value. Returns everything that serde would refuse, each fault with its path. */
type Reader = (value: unknown, path: string) => string[];

const shown = (value: unknown): string =>
  value === undefined ? 'missing' : typeof value === 'bigint' ? String(value) : JSON.stringify(value);
const fault = (value: unknown, path: string, wanted: string): string[] => [
  `${path}: ${shown(value).slice(0, 100)} is not ${wanted}`,
];
const checked =
  (wanted: string, accepts: (value: unknown) => boolean): Reader =>
  (value, path) =>
    accepts(value) ? [] : fault(value, path, wanted);

function integer(name: string, least: bigint, most: bigint): Reader {
  return checked(name, (value) => {
    if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) return false;
    const exact = BigInt(value as number | bigint);
    return exact >= least && exact <= most;
  });
}
const unsigned = (bits: number): Reader => integer(`u${bits}`, 0n, 2n ** BigInt(bits) - 1n);
const signed = (bits: number): Reader =>
  integer(`i${bits}`, -(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n);
const bool = checked('bool', (value) => typeof value === 'boolean');
const text = checked('String', (value) => typeof value === 'string');
const like = (wanted: string, pattern: RegExp): Reader =>
  checked(wanted, (value) => typeof value === 'string' && pattern.test(value));
const oneOf = (wanted: string, ...names: readonly string[]): Reader =>
  checked(wanted, (value) => names.includes(value as string));
/** A field that may be missing or null. */
const option =
  (reader: Reader): Reader =>
  (value, path) =>
    value === null || value === undefined ? [] : reader(value, path);
const list =
  (reader: Reader): Reader =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((item, place) => reader(item, `${path}[${place}]`))
      : fault(value, path, 'Vec');
const tuple =
  (...readers: readonly Reader[]): Reader =>
  (value, path) =>
    Array.isArray(value) && value.length === readers.length
      ? readers.flatMap((reader, place) => reader(value[place], `${path}[${place}]`))
      : fault(value, path, `a tuple of ${readers.length}`);

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const map =
  (key: Reader, item: Reader): Reader =>
  (value, path) =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, each]) => [
          ...key(name, `${path} key`),
          ...item(each, `${path}.${name}`),
        ])
      : fault(value, path, 'BTreeMap');
function struct(fields: Readonly<Record<string, Reader>>, { deniesUnknown = false } = {}): Reader {
  return (value, path) => {
    if (!isObject(value)) return fault(value, path, 'a struct');
    const unknown = deniesUnknown ? Object.keys(value).filter((name) => !Object.hasOwn(fields, name)) : [];
    return [
      ...unknown.map((name) => `${path}.${name}: unknown field`),
      ...Object.entries(fields).flatMap(([name, reader]) => reader(value[name], `${path}.${name}`)),
    ];
  };
}

const [u8, u32, u64, u128] = [unsigned(8), unsigned(32), unsigned(64), unsigned(128)];
const hash = like('a hash', /^[0-9a-f]{64}$/u);
const inscriptionId = like('InscriptionId', /^[0-9a-f]{64}i\d{1,10}$/u);
const outPoint = like('OutPoint', /^[0-9a-f]{64}:\d{1,10}$/u);
const satPoint = like('SatPoint', /^[0-9a-f]{64}:\d{1,10}:\d{1,20}$/u);
const rune = like('Rune', /^[A-Z]{1,28}$/u);
const spacedRune = like('SpacedRune', /^[A-Z](?:[•.]?[A-Z]){0,27}$/u);
const runeId = like('RuneId', /^\d{1,20}:\d{1,10}$/u);
const decimal = like('Decimal', /^\d+(?:\.\d+)?$/u);
const script = like('ScriptBuf', /^(?:[0-9a-f]{2})*$/u);
const char = checked('char', (value) => typeof value === 'string' && /^.$/su.test(value));
const time = checked(
  'DateTime<Utc>',
  (value) => typeof value === 'string' && /^\d{4}-.+Z$/u.test(value) && Date.parse(value) > 0,
);
const address = like('Address', /^[0-9A-Za-z]{14,90}$/u);
const duration = struct({ secs: u64, nanos: integer('nanos', 0n, 999_999_999n) });
const chain = oneOf('Chain', 'mainnet', 'regtest', 'signet', 'testnet', 'testnet4');
const charms =
  'coin cursed epic legendary lost nineball rare reinscription unbound uncommon vindicated mythic burned palindrome';
const charm = oneOf('Charm', ...charms.split(' '));
const trait = checked(
  'Trait',
  (value) =>
    value === null || ['boolean', 'string'].includes(typeof value) || signed(64)(value, '').length === 0,
);
const traits = map(text, trait);
const attributes = struct(
  {
    title: option(text),
    traits: (value, path) => (value === undefined ? [] : traits(value, path)),
  },
  { deniesUnknown: true },
);
const item = struct({ id: option(inscriptionId), attributes }, { deniesUnknown: true });
const pile = struct({ amount: u128, divisibility: u8, symbol: option(char) });
const range = tuple(option(u64), option(u64));
const terms = struct({ amount: option(u128), cap: option(u128), height: range, offset: range });

const status = struct({
  address_index: bool,
  blessed_inscriptions: u64,
  chain,
  cursed_inscriptions: u64,
  height: option(u32),
  initial_sync_time: duration,
  inscription_index: bool,
  inscriptions: u64,
  json_api: bool,
  lost_sats: u64,
  minimum_rune_for_next_block: rune,
  rune_index: bool,
  runes: u64,
  sat_index: bool,
  started: time,
  transaction_index: bool,
  unrecoverably_reorged: bool,
  uptime: duration,
});

const output = struct({
  address: option(address),
  confirmations: u32,
  indexed: bool,
  inscriptions: option(list(inscriptionId)),
  outpoint: outPoint,
  runes: option(map(spacedRune, pile)),
  sat_ranges: option(list(tuple(u64, u64))),
  script_pubkey: script,
  spent: bool,
  transaction: hash,
  value: u64,
});

const inscription = struct({
  address: option(text),
  charms: list(charm),
  child_count: u64,
  children: list(inscriptionId),
  content_length: option(u64),
  content_type: option(text),
  effective_content_type: option(text),
  fee: u64,
  height: u32,
  id: inscriptionId,
  metaprotocol: option(text),
  next: option(inscriptionId),
  number: signed(32),
  parents: list(inscriptionId),
  previous: option(inscriptionId),
  properties: struct({ gallery: list(item), attributes }, { deniesUnknown: true }),
  rune: option(spacedRune),
  sat: option(u64),
  satpoint: satPoint,
  timestamp: signed(64),
  value: option(u64),
});

const runeEntry = struct({
  block: u64,
  burned: u128,
  divisibility: u8,
  etching: hash,
  mints: u128,
  number: u64,
  premine: u128,
  spaced_rune: spacedRune,
  symbol: option(char),
  terms: option(terms),
  timestamp: u64,
  turbo: bool,
});

/** The answers that ord's wallet reads. */
const ordClientTypes = {
  status,
  output,
  outputs: list(output),
  inscription,
  inscriptions: list(inscription),
  missing: list(inscriptionId),
  rune: struct({ entry: runeEntry, id: runeId, mintable: bool, parent: option(inscriptionId) }),
  address: struct({
    outputs: list(outPoint),
    inscriptions: option(list(inscriptionId)),
    sat_balance: u64,
    runes_balances: option(list(tuple(spacedRune, decimal, option(char)))),
  }),
} as const satisfies Readonly<Record<string, Reader>>;
type OrdClientType = keyof typeof ordClientTypes;

/** The faults for which ord's client would refuse an answer. */
export const ordClientFaults = (type: OrdClientType, body: string): string[] =>
  ordClientTypes[type](exactJson(body), type);

/** The data for the requests that a wallet would send. */
interface WalletQuestions {
  readonly outpoints: readonly string[];
  readonly ids: readonly string[];
  readonly runes: readonly string[];
  readonly addresses: readonly string[];
}

interface RecordedOutput {
  readonly address: string | null;
  readonly indexed: boolean;
  readonly spent: boolean;
}

/**
 * The requests of a wallet that owns some unspent outputs of a golden chain. These are all outputs with runes or
 * inscriptions, and every hundredth of the others.
 */
export function walletQuestions(golden: GoldenChain, tip: GoldenTip): WalletQuestions {
  const outputs = ['output', 'output-empty'].flatMap((question) =>
    golden
      .answerLines(tip, question)
      .filter((line, place) => question === 'output' || isRunic(line) || place % 100 === 0)
      .map((line) => exactJson(line) as { key: string; value: RecordedOutput })
      // the outpoints of lost and unbound inscriptions must not be requested in a batch
      .filter(({ key, value }) => value.indexed && !value.spent && !key.startsWith('0'.repeat(64))),
  );
  return {
    outpoints: outputs.map(({ key }) => key),
    ids: golden.order(tip).slice(0, 300),
    runes: golden.runeAnswers(tip, 'rune.ndjson').map((line) => (exactJson(line) as { key: string }).key),
    addresses: outputs.flatMap(({ value: { address: owner } }) => owner ?? []).slice(0, 20),
  };
}

/** Whether a recorded answer about an output has runes. */
export const isRunic = (line: string): boolean => line.includes('"runes":{"');

/** Sends all requests of ord's wallet. Returns everything that ord's client would refuse, with the paths. */
export async function faultsForOrdWallet(
  app: App,
  { outpoints, ids, runes, addresses }: WalletQuestions,
): Promise<string[]> {
  const faults: string[] = [];
  const read = async (type: OrdClientType, url: string, payload?: readonly string[]): Promise<void> => {
    const headers = { accept: 'application/json' };
    const answer = await app.inject(
      payload === undefined ? { url, headers } : { method: 'POST', url, headers, payload: [...payload] },
    );
    const found =
      answer.statusCode === 200
        ? ordClientFaults(type, answer.body)
        : [`${answer.statusCode} ${answer.body}`];
    for (const each of found) faults.push(`${url}: ${each}`);
  };
  const count = await app.inject('/blockcount');
  if (!/^\d+$/u.test(count.body)) faults.push(`/blockcount: ${count.body}`);
  await read('status', '/status');
  await read('outputs', '/outputs', outpoints);
  await read('inscriptions', '/inscriptions', ids);
  await read('missing', '/missing', [...ids, `${'ab'.repeat(32)}i0`]);
  for (const outpoint of outpoints.slice(0, 3)) await read('output', `/output/${outpoint}`);
  for (const id of ids.slice(0, 3)) await read('inscription', `/inscription/${id}`);
  for (const name of runes) await read('rune', `/rune/${encodeURIComponent(name)}`);
  for (const each of addresses) await read('address', `/address/${each}`);
  return faults;
}

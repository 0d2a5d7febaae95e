import { expect, test } from 'vitest';
import { type Config, loadConfig } from '#config/config.ts';
import type { NodeAdvice, NodeFacts } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { judgeClock, shownTime } from '#src/app/doctor/clock.ts';
import { type DatabaseFacts, judgeDatabase, judgeReader } from '#src/app/doctor/database.ts';
import { type DiskFacts, judgeDisks } from '#src/app/doctor/disk.ts';
import { judgeBlocks, judgeCookie, judgeFolder, type PathFacts } from '#src/app/doctor/files.ts';
import type { Finding } from '#src/app/doctor/finding.ts';
import { type CheckedNode, judgeNode } from '#src/app/doctor/node.ts';
import { judgePolicy, type PolicyFacts } from '#src/app/doctor/policy.ts';
import { type IndexFacts, judgeIndex, judgeRoom, judgeServers } from '#src/app/doctor/search.ts';
import { judgeService, readReady } from '#src/app/doctor/service.ts';
import { judgeNames, judgeSettings } from '#src/app/doctor/settings.ts';
import { judgeVersions } from '#src/app/doctor/versions.ts';
import { judgeHold, judgeMark, judgeOrders, judgeSeed, type MarkFacts } from '#src/app/doctor/wallet.ts';
import { judgeQueue, judgeSecret } from '#src/app/doctor/webhooks.ts';

/** Checks and levels of findings, `node.rest advice`. */
const shown = (findings: readonly Finding[]): string[] =>
  findings.map(({ check, level }) => `${check} ${level}`);

/** Findings that are not ok. Each has an action. */
const faults = (findings: readonly Finding[]): string[] => {
  const found = findings.filter(({ level }) => level !== 'ok');
  for (const { action } of found) expect(action).toMatch(/^\S.{10,}/u);
  for (const finding of findings) if (finding.level === 'ok') expect(finding.action).toBeNull();
  return shown(found);
};

const facts: NodeFacts = {
  network: 'mainnet',
  version: 300_200,
  isInitialBlockDownload: false,
  pruneHeight: null,
  hasRest: true,
  spentOutputs: 'rest',
  hasTxIndex: true,
  reveals: 'untested',
  zmq: new Map([['sequence', 'tcp://127.0.0.1:28332']]),
  advice: [],
};
const node: CheckedNode = {
  url: 'http://127.0.0.1:8332',
  facts,
  userAgent: '/Satoshi:30.2.0/',
  blocks: 900_000,
  headers: 900_000,
  peers: 10,
  isNetworkActive: true,
  peersAheadSeconds: 0,
};
const needs = { network: 'mainnet', nextHeight: asHeight(900_000) } as const;
const lacking = (feature: NodeAdvice['feature']): NodeFacts => ({
  ...facts,
  advice: [{ feature, message: 'It is missing.', action: 'Put it into bitcoin.conf.' }],
});

test.each<[string, Partial<CheckedNode>, Partial<typeof needs>, string[]]>([
  ['in order', {}, {}, []],
  ['another network', { facts: { ...facts, network: 'signet' } }, {}, ['node.network broken']],
  ['initial download', { facts: { ...facts, isInitialBlockDownload: true } }, {}, ['node.sync advice']],
  ['no peers', { peers: 0 }, {}, ['node.peers broken']],
  ['no network', { isNetworkActive: false }, {}, ['node.peers broken']],
  ['wrong clock', { peersAheadSeconds: -71 }, {}, ['node.clock advice']],
  [
    'pruned below the index',
    { facts: { ...facts, pruneHeight: asHeight(890_000) } },
    {},
    ['node.unpruned advice'],
  ],
  ['pruned too far', { facts: { ...facts, pruneHeight: asHeight(900_001) } }, {}, ['node.unpruned broken']],
  ['without REST', { facts: lacking('rest') }, {}, ['node.rest advice']],
  ['without ZMQ', { facts: lacking('sequence') }, {}, ['node.sequence advice']],
  ['with a deaf ZMQ', { facts: lacking('zmq') }, {}, ['node.zmq advice']],
  ['without index', { facts: lacking('txindex') }, {}, ['node.txindex advice']],
])('a node: %s', (_, changed, changedNeeds, expected) => {
  expect(faults(judgeNode({ ...node, ...changed }, { ...needs, ...changedNeeds }))).toEqual(expected);
});

test('a regtest node needs no peers', () => {
  const alone = { ...node, peers: 0, facts: { ...facts, network: 'regtest' as const } };
  expect(faults(judgeNode(alone, { ...needs, network: null }))).toEqual([]);
});

const policy: PolicyFacts = {
  isKnots: false,
  minRelayFeeRate: 100n,
  incrementalFeeRate: 100n,
  dataCarrier: { bytesMax: 100_000, relaysSeveral: true },
  isFullRbf: null,
};

test.each<[Partial<PolicyFacts>, boolean, string[]]>([
  [{}, true, []],
  [{ isFullRbf: true }, true, []],
  [{ isKnots: true }, false, ['policy.reveals advice']],
  [{ isKnots: true }, true, ['policy.reveals broken']],
  [{ dataCarrier: { bytesMax: 42, relaysSeveral: false } }, false, ['policy.data-carrier advice']],
  [{ dataCarrier: { bytesMax: 0, relaysSeveral: false } }, true, ['policy.data-carrier broken']],
  [{ minRelayFeeRate: 1001n }, true, ['policy.relay-fee advice']],
  [{ incrementalFeeRate: 1001n }, true, ['policy.incremental-fee advice']],
  [{ isFullRbf: false }, true, ['policy.full-rbf advice']],
])('a policy %#', (changed, takesOrders, expected) => {
  expect(faults(judgePolicy({ ...policy, ...changed }, takesOrders))).toEqual(expected);
});

test.each([
  [0, 'ok', 'agree'],
  [-69_999, 'ok', 'agree'],
  [70_000, 'advice', '70 s fast'],
  [-600_000, 'advice', '10 min slow'],
  [7_199_999, 'advice', '2 h fast'],
  [-7_200_000, 'broken', '2 h slow'],
] as const)('a clock that is %d ms ahead is %s', (aheadMs, level, message) => {
  const found = judgeClock({ of: 'node', aheadMs });
  expect(found).toMatchObject({ check: 'clock.node', level });
  expect(found.message).toContain(message);
});

test('times are shown in the largest fitting unit', () => {
  expect([5_000, 119_000, 3_600_000, 5_400_000, 9_000_000, 400_000_000].map(shownTime)).toEqual([
    '5 s',
    '2 min',
    '60 min',
    '90 min',
    '2.5 h',
    '5 days',
  ]);
});

const database: DatabaseFacts = {
  address: 'postgres://127.0.0.1:5432',
  isEmbedded: false,
  version: '18.1',
  collation: 'C.UTF-8',
  hasOldCollation: false,
  isExposed: false,
  isReadOnly: false,
  isStandby: false,
  isPooled: false,
  pending: [],
  foreignTables: [],
  cannotMigrate: false,
  bytes: 1e9,
  clockAheadMs: 0,
};

test.each<[string, Partial<DatabaseFacts>, string[]]>([
  ['in order', {}, []],
  ['without TLS', { isExposed: true }, ['database.tls advice']],
  ['with an old collation', { hasOldCollation: true }, ['database.collation advice']],
  ['full', { isReadOnly: true }, ['database.writes broken']],
  ['a standby', { isReadOnly: true, isStandby: true }, ['database.writes broken']],
  ['of another owner', { foreignTables: ['chain.blocks'] }, ['database.owner broken']],
  ['older', { pending: ['service/0001_first'] }, ['database.migrations advice']],
  ['that cannot be migrated', { pending: ['a/1'], cannotMigrate: true }, ['database.migrations broken']],
])('a database %s', (_, changed, expected) => {
  expect(faults(judgeDatabase({ ...database, ...changed }, 'all'))).toEqual(expected);
});

test('a process that only answers needs no rights of the writer', () => {
  expect(faults(judgeDatabase({ ...database, isReadOnly: true, foreignTables: ['a.b'] }, 'api'))).toEqual([]);
});

test('a reader with more rights than needed is advised against', () => {
  expect(faults(judgeReader({ role: 'reader', excess: [] }))).toEqual([]);
  expect(faults(judgeReader({ role: 'reader', excess: ['is a superuser'] }))).toEqual([
    'database.reader advice',
  ]);
});

const disk: DiskFacts = {
  settings: ['DATA_DIR'],
  path: '/data',
  hasDatabase: true,
  freeBytes: 300e9,
  totalBytes: 500e9,
};
const room = { network: 'mainnet', databaseBytes: null, indexes: true } as const;

test.each<[Partial<DiskFacts>, Partial<Record<keyof typeof room, unknown>>, string[]]>([
  [{}, {}, []],
  [{ freeBytes: 246e9 }, {}, ['disk.room advice']],
  [{ freeBytes: 246e9 }, { databaseBytes: 2e9 }, []],
  [{ freeBytes: 246e9 }, { indexes: false }, []],
  [{ freeBytes: 246e9, hasDatabase: false }, {}, []],
  [{ freeBytes: 4e9 }, { databaseBytes: 300e9 }, ['disk.room advice']],
  [{ freeBytes: 4e9 }, { network: 'signet' }, []],
  [{ freeBytes: 90e6 }, { network: 'regtest' }, ['disk.room broken']],
])('a disk %#', (changed, changedRoom, expected) => {
  const found = judgeDisks([{ ...disk, ...changed }], { ...room, ...changedRoom } as typeof room);
  expect(faults(found)).toEqual(expected);
});

const folder: PathFacts = { path: '/data', kind: 'folder', mode: 0o755, isWritable: true };

test.each<[Partial<PathFacts>, string[]]>([
  [{}, []],
  [{ kind: 'missing' }, []],
  [{ kind: 'missing', isWritable: false }, ['files.data broken']],
  [{ isWritable: false }, ['files.data broken']],
  [{ kind: 'file' }, ['files.data broken']],
  [{ mode: 0o775 }, ['files.data advice']],
])('a folder %#', (changed, expected) => {
  expect(
    faults(judgeFolder({ check: 'files.data', setting: 'DATA_DIR' }, { ...folder, ...changed })),
  ).toEqual(expected);
});

test.each<[Partial<PathFacts>, string[]]>([
  [{ mode: 0o640 }, []],
  [{ mode: 0o644 }, ['files.cookie advice']],
  [{ kind: 'missing' }, ['files.cookie broken']],
])('a cookie file %#', (changed, expected) => {
  const file: PathFacts = { ...folder, kind: 'file', ...changed };
  expect(faults(judgeCookie(file))).toEqual(expected);
});

test('a folder of a file system that can only be read', () => {
  const mounted = { ...folder, isWritable: false, isReadOnly: true };
  const [found] = judgeFolder({ check: 'files.data', setting: 'DATA_DIR' }, mounted);
  expect(found?.message).toContain('its file system can only be read');
});

test('a folder of blocks needs its index', () => {
  expect(faults(judgeBlocks({ ...folder, kind: 'file' }))).toEqual([]);
  expect(faults(judgeBlocks({ ...folder, kind: 'missing' }))).toEqual(['files.blocks broken']);
});

const marker = {
  state: 'complete',
  rewinds: 0,
  database: 'regtest 1',
  epoch: 0,
  sequence: 1,
  tip: null,
  nextKey: 0,
  phrases: [],
  isMerged: true,
} as const;
const index: IndexFacts = { marker, problem: null, lagBlocks: 0, database: 'regtest 1' };
const slow = new AppError('search_engine_slow', 'No answer.');
const missing = new AppError('search_engine_missing', 'No index.');

test.each<[Partial<IndexFacts>, string[]]>([
  [{}, []],
  [{ lagBlocks: 3 }, []],
  [{ lagBlocks: 4 }, ['search.index advice']],
  [{ marker: null }, ['search.index advice']],
  [{ marker: null, problem: missing }, ['search.index advice']],
  [{ marker: null, problem: slow }, ['search.index advice']],
  [{ marker: { ...marker, state: 'loading' } }, ['search.index advice']],
  [{ database: 'regtest 2' }, ['search.index advice']],
])('an index of Elasticsearch %#', (changed, expected) => {
  const found = { ...index, ...changed };
  expect(faults(judgeIndex(found, { searchFallback: 'postgres', searchLagBlocks: 3 }))).toEqual(expected);
  // without a fallback, searches are refused
  expect(faults(judgeIndex(found, { searchFallback: 'error', searchLagBlocks: 3 }))).toEqual(
    expected.map((line) => line.replace('advice', 'broken')),
  );
});

test('a version and the disks of Elasticsearch', () => {
  expect(judgeServers('http://127.0.0.1:9200', ['9.5.0'])[0]?.message).toContain(
    'Elasticsearch 9.5.0 answers',
  );
  expect(judgeServers('http://127.0.0.1:9200', [])[0]?.message).toContain('Elasticsearch answers');
  expect(faults(judgeServers('http://127.0.0.1:9200', ['8.19.1', '9.5.0']))).toEqual([
    'search.server broken',
  ]);
  expect(faults(judgeRoom([{ name: 'one', usedPercent: 86 }]))).toEqual(['search.disk advice']);
  expect(faults(judgeRoom([{ name: 'one', usedPercent: 95 }]))).toEqual(['search.disk broken']);
});

test.each<[Parameters<typeof judgeSeed>[0], Config['role'], string[]]>([
  [{ wallet: 'stored', seed: 'usable' }, 'all', []],
  [{ wallet: 'unread', seed: 'usable' }, 'all', []],
  [{ wallet: 'missing', seed: 'absent' }, 'all', []],
  [{ wallet: 'missing', seed: 'absent' }, 'orders', ['wallet.seed advice']],
  [{ wallet: 'stored', seed: 'absent' }, 'all', ['wallet.seed broken']],
  [{ wallet: 'missing', seed: 'usable' }, 'all', ['wallet.seed advice']],
  [{ wallet: 'unread', seed: new AppError('wallet_seed_refused', 'No.') }, 'all', ['wallet.seed broken']],
])('a seed %#', (found, role, expected) => {
  expect(faults(judgeSeed(found, role))).toEqual(expected);
});

const ends = { orders: 1000, own: 1000, fees: 1000 };
const mark: MarkFacts = {
  path: '/seed.mark',
  mark: ends,
  release: { released: ends, isMarked: true, problem: null },
  isFolderWritable: true,
};

test.each<[Partial<MarkFacts>, string[]]>([
  [{}, []],
  [{ mark: null }, ['wallet.mark broken']],
  [{ mark: null, release: { ...mark.release, isMarked: false } }, []],
  [{ mark: { ...ends, own: 999 } }, ['wallet.mark advice']],
  [{ mark: new AppError('wallet_mark_refused', 'No.') }, ['wallet.mark broken']],
  [{ isFolderWritable: false }, ['wallet.mark broken']],
  [{ release: { ...mark.release, problem: 'wallet_mark_unwritable' } }, ['wallet.mark broken']],
])('a mark %#', (changed, expected) => {
  expect(faults(judgeMark({ ...mark, ...changed }))).toEqual(expected);
});

test('payments on hold after a restore are named with what to do', () => {
  expect(judgeHold(null)).toEqual([]);
  const hold = { beganAt: new Date(9), backupAt: new Date(5), height: null, ends: [ends] as const };
  expect(judgeHold(hold)).toEqual([
    {
      check: 'wallet.hold',
      level: 'broken',
      message: expect.stringContaining('1970-01-01T00:00:00.005Z') as string,
      action: expect.stringContaining('satscribe payouts held') as string,
    },
  ]);
});

const orders = { stuck: 0, audit: null, spareSats: 20_000n, bumpMaxSats: 20_000 };

test.each<[Partial<Parameters<typeof judgeOrders>[0]>, string[]]>([
  [{}, []],
  [{ bumpMaxSats: 0, spareSats: 0n }, []],
  [{ spareSats: 19_999n }, ['wallet.coins advice']],
  [{ spareSats: -5n }, ['wallet.coins advice']],
  [{ stuck: 2 }, ['wallet.stuck advice']],
  [{ audit: { orders: 5, differing: 1 } }, ['wallet.audit broken']],
  [{ audit: { orders: 5, differing: 0 } }, []],
])('orders and coins %#', (changed, expected) => {
  expect(faults(judgeOrders({ ...orders, ...changed }))).toEqual(expected);
});

const noSecret = new AppError('service_secret_missing', 'There is no secret.');

test.each<[Parameters<typeof judgeSecret>[0], string[]]>([
  [{ own: ['whpk_a'], known: 'whpk_a' }, []],
  [{ own: ['whpk_b', 'whpk_a'], known: 'whpk_a' }, []],
  [{ own: ['whpk_a'], known: null }, []],
  [{ own: noSecret, known: null }, []],
  [{ own: noSecret, known: null, isUnread: true }, ['webhooks.secret advice']],
  [{ own: noSecret, known: 'whpk_a' }, ['webhooks.secret broken']],
  [{ own: ['whpk_b'], known: 'whpk_a' }, ['webhooks.secret broken']],
  [{ own: new AppError('service_secret_invalid', 'A link.'), known: null }, ['webhooks.secret broken']],
])('a secret %#', (found, expected) => {
  expect(faults(judgeSecret(found))).toEqual(expected);
});

test('messages that wait, and receivers that fail', () => {
  const calm = { waiting: { count: 3, oldestSeconds: 60 }, failing: [] };
  expect(faults(judgeQueue(calm))).toEqual([]);
  expect(faults(judgeQueue({ ...calm, waiting: { count: 3, oldestSeconds: 3600 } }))).toEqual([
    'webhooks.queue advice',
  ]);
  expect(faults(judgeQueue({ ...calm, failing: [{ host: 'example.com', count: 4 }] }))).toEqual([
    'webhooks.receiver advice',
  ]);
});

const config = (env: Record<string, string> = {}): Config => loadConfig({ env });
const url = 'postgres://user:secret@127.0.0.1/satscribe';

test.each<[Record<string, string>, string[]]>([
  [{}, []],
  [{ PUBLIC_URL: 'https://ord.example.com' }, ['settings.proxy advice']],
  [{ PUBLIC_URL: 'https://ord.example.com', TRUST_PROXY: 'loopback' }, []],
  [{ TRUST_PROXY: 'loopback' }, ['settings.public-url advice']],
  [{ DATABASE_URL: url }, ['settings.reader advice']],
  [{ DATABASE_URL: url, ROLE: 'indexer' }, []],
  [{ ALLOW_PRIVATE_URLS: 'true' }, ['settings.private-urls advice']],
  [{ PAYOUT_CONFIRMATIONS: '5' }, ['settings.network broken']],
  [{ UTXO_SOURCE: 'index' }, ['settings.utxo-source broken']],
])('settings %o', (env, expected) => {
  const found = judgeSettings(config(env), 'mainnet');
  expect(faults(found)).toEqual(expected);
  expect(JSON.stringify(found)).not.toContain('secret');
});

test('settings that name another network than the database', () => {
  const named = (network: string, served: NetworkName | null): string[] =>
    faults(judgeSettings(config({ NETWORK: network }), served ?? 'signet', served));
  expect(named('signet', 'regtest')).toEqual(['settings.network broken']);
  expect(named('regtest', 'regtest')).toEqual([]);
  expect(named('signet', null)).toEqual([]);
});

test('names in the file of settings that are nearly those of settings', () => {
  const found = judgeNames(['NETWORK', 'NETWROK', 'DATA_DIR', 'POSTGRES_PASSWORD', 'PATH']);
  expect(faults(found)).toEqual(['settings.names advice']);
  expect(found[0]?.action).toContain('If NETWORK is meant');
});

test('versions, with and without an embedded Postgres', () => {
  const programs = { program: '0.1.0', node: '24.1.0' };
  expect(shown(judgeVersions({ ...programs, embedded: null }))).toEqual(['versions.program ok']);
  expect(faults(judgeVersions({ ...programs, embedded: { version: '18.1', missingLinks: 0 } }))).toEqual([]);
  expect(faults(judgeVersions({ ...programs, embedded: { version: '18.1', missingLinks: 3 } }))).toEqual([
    'versions.postgres advice',
  ]);
});

const service = {
  address: 'http://127.0.0.1:7700',
  answer: 'silent',
  standing: null,
  lagMaxBlocks: 3,
} as const;
const ready = { isReady: true, role: 'all', height: 5, reasons: [] };

test.each<[Partial<Parameters<typeof judgeService>[0]>, string[]]>([
  [{}, []],
  [{ answer: 'foreign' }, ['service.answer broken']],
  [{ answer: ready }, []],
  [{ answer: { ...ready, isReady: false } }, ['service.ready advice']],
  [
    {
      answer: {
        ...ready,
        isReady: false,
        reasons: [
          { code: 'index_behind', message: '5 blocks behind.' },
          { code: 'audit_differs', message: 'An order differs.' },
        ],
      },
    },
    ['service.ready advice', 'service.ready broken'],
  ],
])('a service %#', (changed, expected) => {
  expect(faults(judgeService({ ...service, ...changed }))).toEqual(expected);
});

test('the answer of a service is read, and another text is foreign', () => {
  for (const text of ['', '<html>', 'null', '5', '{}', '{"status":"error"}', '{"reasons":5}'])
    expect(readReady(text)).toBe('foreign');
  expect(readReady('{"status":"ok","role":"api","height":7}')).toEqual({
    isReady: true,
    role: 'api',
    height: 7,
    reasons: [],
  });
  const reasons = [{ code: 'index_behind', message: 'Behind.' }, { code: 'unknown', message: 'x' }, 5];
  expect(readReady(JSON.stringify({ status: 'error', reasons, height: null }))).toEqual({
    isReady: false,
    role: 'all',
    height: null,
    reasons: [reasons[0]],
  });
});

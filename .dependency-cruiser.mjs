// The rooms and who may import whom: docs/architecture.md has the same table in words, and a test holds the two together.
const ours = '^(src|indexer|search|bench|test|scripts)/';
const room = (name, from, allowed) => ({
  name: `${name}-imports-only-its-own-rooms`,
  severity: 'error',
  from: { path: from },
  to: { path: ours, pathNot: allowed },
});
/** Only these rooms may import a package from outside. */
const vendor = (name, rooms) => ({
  name: `${name}-stays-at-its-edge`,
  severity: 'error',
  from: { path: '^(src|indexer|search)/', pathNot: rooms },
  to: { path: `(^|/)node_modules/${name}/`, dependencyTypesNot: ['type-only'] },
});

export default {
  forbidden: [
    room('kernel', '^src/kernel/', '^src/kernel/'),
    room('node', '^src/node/', '^src/(node|kernel)/'),
    room('embedded-postgres', '^src/embedded-postgres/', '^src/(embedded-postgres|kernel)/'),
    room('chain', '^src/chain/', '^src/(chain|kernel)/'),
    room('indexer', '^indexer/', '^(indexer|src/(kernel|node|chain/(snapshot|events)))/'),
    room('search', '^search/', '^(search|src/(kernel|chain/snapshot))/'),
    room('accounts', '^src/accounts/', '^src/(accounts|kernel)/'),
    room(
      'payments',
      '^src/payments/',
      '^(src/(payments|kernel)|indexer/(transaction|source|mempool/stream))/',
    ),
    room('sat-ranges', '^src/sat-ranges/', '^(src/(sat-ranges|kernel)|indexer/(parse|transaction))/'),
    room('outgoing', '^src/outgoing/', '^src/(outgoing|kernel)/'),
    room('utxos', '^src/utxos/', '^(src/(utxos|outgoing|chain|sat-ranges|kernel)|indexer/transaction)/'),
    room('inventory', '^src/inventory/', '^src/(inventory|utxos|chain|kernel)/'),
    room('wallet', '^src/wallet/', '^src/(wallet|kernel)/'),
    room('orders', '^src/orders/', '^src/(orders|wallet|payments|webhooks|outgoing|kernel)/'),
    room('webhooks', '^src/webhooks/', '^src/(webhooks|outgoing|kernel)/'),
    {
      name: 'plans-of-orders-are-pure',
      comment: 'terms and prices to transactions: no IO, no clock, no keys, no configuration',
      severity: 'error',
      from: { path: '^src/orders/inscribing/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|assert|buffer)(/strict)?$' },
    },
    room('web', '^src/web/', '^src/(web|kernel)/'),
    room(
      'http',
      '^src/http/',
      '^(src/(http|web|chain|accounts|payments|sat-ranges|utxos|inventory|orders|webhooks|kernel)|search|indexer/(parse|transaction|runes))/',
    ),
    room(
      'app',
      '^src/app/',
      '^(src/(app|http|chain|accounts|payments|sat-ranges|outgoing|utxos|inventory|wallet|orders|webhooks|node|embedded-postgres|kernel|config|version)|search|indexer)',
    ),
    room(
      'commands',
      '^src/(commands/|main|command-line|compiled-code|cli|config)',
      '^src/(commands/|app/|accounts/|inventory/|wallet/|orders/|webhooks/|chain/|kernel/|main|command-line|compiled-code|cli|config|version)',
    ),
    room('transaction', '^indexer/transaction/', '^(indexer/transaction|src/kernel)/'),
    room('runes', '^indexer/runes/', '^(indexer/runes|src/kernel)/'),
    room('search-text', '^search/text/', '^(search/text|src/kernel)/'),
    {
      name: 'the-engines-know-nothing-of-each-other',
      severity: 'error',
      from: { path: '^search/(postgres|segments|seal)/' },
      to: { path: '^search/(elastic|sync)/' },
    },
    {
      name: 'elasticsearch-knows-nothing-of-segments',
      severity: 'error',
      from: { path: '^search/(elastic|sync)/' },
      to: { path: '^search/(postgres|segments|seal)/' },
    },
    {
      name: 'events-know-no-writer',
      severity: 'error',
      from: { path: '^indexer/events/' },
      to: { path: '^indexer/apply/' },
    },
    {
      name: 'parse-is-pure',
      comment: 'bytes to columns: no IO, no clock, no config; zlib is a pure function here',
      severity: 'error',
      from: { path: '^indexer/(transaction|runes|parse|ledger)/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|zlib|assert|buffer)$' },
    },
    {
      name: 'workers-only-compute',
      comment: 'a worker knows the parser and the message codec, never a database',
      severity: 'error',
      from: { path: '\\.worker\\.ts$' },
      to: { path: '(^|/)(pg|pg-copy-streams)(/|$)' },
    },
    vendor('@elastic', '^search/elastic/'),
    vendor('@noble', '^src/wallet/'),
    vendor('@scure/(bip32|bip39|btc-signer)', '^src/wallet/'),
    vendor('undici', '^src/(node|outgoing)/'),
    vendor('zeromq', '^src/node/'),
    vendor('bitcoin-core', '^src/node/'),
    vendor('fastify', '^src/(http|app)/'),
    {
      name: 'production-does-not-import-tests-or-benches',
      severity: 'error',
      from: { path: '^(src|indexer|search)/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'tests-build-on-nothing-of-the-benches',
      comment: 'builders that both need live in test/builders; tests of the bench itself may import it',
      severity: 'error',
      from: { path: '^test/', pathNot: '^test/unit/bench/' },
      to: { path: '^bench/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
};

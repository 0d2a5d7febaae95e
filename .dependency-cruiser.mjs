// The rooms and who may import whom: docs/architecture.md has the same table in words.
const room = (name, from, allowed) => ({
  name: `${name}-imports-only-its-own-rooms`,
  severity: 'error',
  from: { path: from },
  to: { path: '^(src|indexer|search|bench|test|scripts)/', pathNot: allowed },
});

export default {
  forbidden: [
    room('kernel', '^src/kernel/', '^src/kernel/'),
    room('indexer', '^indexer/', '^(indexer|src/kernel)/'),
    room('search', '^search/', '^(search|src/kernel)/'),
    room('chain', '^src/chain/', '^src/(chain|kernel)/'),
    room('accounts', '^src/accounts/', '^src/(accounts|kernel)/'),
    room('web', '^src/web/', '^src/(web|kernel)/'),
    room('http', '^src/http/', '^(src/(http|web|chain|accounts|kernel)|search|indexer/parse)/'),
    room(
      'commands',
      '^src/(commands/|main|cli|config)',
      '^src/(commands/|app/|accounts/|chain/|kernel/|main|cli|config|version)',
    ),
    {
      name: 'parse-is-pure',
      comment: 'bytes to columns: no IO, no clock, no config; zlib is a pure function here',
      severity: 'error',
      from: { path: '^indexer/(parse|ledger)/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|zlib|assert|buffer)$' },
    },
    {
      name: 'workers-only-compute',
      comment: 'a worker knows the parser and the message codec, never a database',
      severity: 'error',
      from: { path: '\\.worker\\.ts$' },
      to: { path: '(^|/)(pg|pg-copy-streams)(/|$)' },
    },
    {
      name: 'production-does-not-import-tests-or-benches',
      severity: 'error',
      from: { path: '^(src|indexer|search)/' },
      to: { path: '^(test|bench|scripts)/' },
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

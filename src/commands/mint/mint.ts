import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { actionOf, type CommandActions, ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

export const mintCommand: Command = {
  name: 'mint',
  object: null,
  operands: 'list|show|approve|…',
  summary: 'collections for sale: approve, refuse or close them, and what they earned',
  details: `Creators send collections (POST /collection-create), and nothing is sold before you approve. list
shows them, the oldest first. show has one with its phases, its counts and its first files, and says for a
pending one what approving would do. approve fetches each file once and stores its bytes: the approved bytes
are sold. It needs as many files as totalCount, or one for an edition. All faults are shown together, and a
collection with a fault is not approved; the next run fetches only missing files. upload takes the files of a
folder in place of those of a pending collection: the order of their names (2.png before 10.png) is that of
the items. refuse ends a pending collection, and close ends the sale of an approved one: sold items stay sold.
earnings shows what creators and referrers have earned with each. Run it where the files of the service are
(FILES_DIR); it may run beside a service (docs/collections.md, "For operators").

  satscribe mint list --state pending
  satscribe mint show frogs
  satscribe mint upload frogs ./frogs
  satscribe mint approve frogs
  satscribe mint refuse frogs --reason "The pictures are not yours."
  satscribe mint earnings --csv > earnings.csv`,
  flags: [
    jsonFlag,
    ownFlag('csv', null, 'earnings: print a table for spreadsheets (RFC 4180)'),
    ownFlag('state', 'STATE', 'list: only those that are pending, approved, refused or closed'),
    ownFlag('after', 'ID', 'list: only collections that came after this one'),
    ownFlag('limit', 'N', 'list: at most this many; unset: 100. show: files; unset: 10'),
    ownFlag('reason', 'TEXT', 'refuse, close: the reason, for its creator'),
    ownFlag('allow-doubles', null, 'approve, show: items may have the same bytes'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runMint,
};

const actions: CommandActions = {
  list: { flags: ['json', 'state', 'after', 'limit'], words: 0 },
  show: { flags: ['json', 'limit', 'allow-doubles'], words: 1 },
  approve: { flags: ['json', 'allow-doubles'], words: 1 },
  refuse: { flags: ['json', 'reason'], words: 1 },
  close: { flags: ['json', 'reason'], words: 1 },
  upload: { flags: ['json'], words: 2 },
  earnings: { flags: ['json', 'csv'], words: 1 },
};

async function runMint(context: CommandContext): Promise<void> {
  const { flags, words } = context;
  const action = actionOf(context, 'mint', actions);
  const [, id = '', folder = ''] = words;
  if (flags['json'] !== undefined && flags['csv'] !== undefined)
    throw new UsageError('--json and --csv are two forms: name one');
  // loaded here, so that help and usage errors do not load it
  if (action === 'list') return (await import('./mint-shown.ts')).list(context);
  if (action === 'earnings')
    return (await import('./mint-earnings.ts')).earnings(context, id === '' ? null : id);
  if (id === '')
    throw new UsageError(`which one? satscribe mint ${action} <id>${action === 'upload' ? ' <folder>' : ''}`);
  if (action === 'show') return (await import('./mint-shown.ts')).show(context, id);
  return decide(context, action, id, folder);
}

/** Runs an action that changes one collection. */
async function decide(context: CommandContext, action: string, id: string, folder: string): Promise<void> {
  if (action === 'upload' && folder === '')
    throw new UsageError(`which folder? satscribe mint upload ${id} <folder>`);
  const { approve, close, refuse, upload } = await import('./mint-decided.ts');
  if (action === 'approve') return approve(context, id);
  if (action === 'upload') return upload(context, id, folder);
  return action === 'refuse' ? refuse(context, id) : close(context, id);
}

import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { actionOf, type CommandActions, ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

const actions: CommandActions = {
  list: { flags: ['json', 'state', 'after', 'limit'], words: 0 },
  show: { flags: ['json', 'limit', 'allow-doubles'], words: 1 },
  approve: { flags: ['json', 'allow-doubles'], words: 1 },
  refuse: { flags: ['json', 'reason'], words: 1 },
  close: { flags: ['json', 'reason'], words: 1 },
  upload: { flags: ['json'], words: 2 },
  earnings: { flags: ['json', 'csv'], words: 1 },
};

export const mintCommand: Command = {
  name: 'mint',
  object: null,
  operands: 'list|show|approve|…',
  actions: Object.keys(actions),
  summary: 'decide about collections for sale, close them, and show what they earned',
  details: `Creators send collections (POST /collection-create). Nothing is sold before you approve a collection.

  list      shows the collections, the oldest first.
  show      shows one collection with its phases, its counts and its first files. For a pending collection
            it also shows what approve would do.
  approve   fetches each file once, stores its bytes, and begins the sale of exactly these bytes. The
            collection needs totalCount files, or one file for an edition. All faults are shown together,
            and a collection with a fault is not approved. The next run fetches only the missing files.
  upload    replaces the files of a pending collection with the files of a folder. The items have the order
            of the file names (2.png before 10.png).
  refuse    ends a pending collection.
  close     ends the sale of an approved collection. Sold items stay sold.
  earnings  shows what creators and referrers have earned with each collection.

Run the command on the machine with the files of the service (FILES_DIR). It may run beside a service
(docs/collections.md, "For operators").

  satscribe mint list --state pending
  satscribe mint show frogs
  satscribe mint upload frogs ./frogs
  satscribe mint approve frogs
  satscribe mint refuse frogs --reason "The pictures are not yours."
  satscribe mint earnings --csv > earnings.csv`,
  flags: [
    jsonFlag,
    ownFlag('csv', null, 'earnings: print a table for spreadsheets (RFC 4180)'),
    ownFlag('state', 'STATE', 'list: only collections that are pending, approved, refused or closed'),
    ownFlag('after', 'ID', 'list: only collections that were created after this collection'),
    ownFlag(
      'limit',
      'N',
      'list: maximum number of collections; unset: 100. show: maximum number of files; unset: 10',
    ),
    ownFlag('reason', 'TEXT', 'refuse, close: reason, which the creator can read'),
    ownFlag('allow-doubles', null, 'approve, show: allow items with the same bytes'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runMint,
};

async function runMint(context: CommandContext): Promise<void> {
  const { flags, words } = context;
  const action = actionOf(context, 'mint', actions);
  const [, id = '', folder = ''] = words;
  if (flags['json'] !== undefined && flags['csv'] !== undefined)
    throw new UsageError('--json and --csv exclude each other');
  // loaded here, so that help and usage errors do not load it
  if (action === 'list') return (await import('./mint-shown.ts')).list(context);
  if (action === 'earnings')
    return (await import('./mint-earnings.ts')).earnings(context, id === '' ? null : id);
  if (id === '')
    throw new UsageError(
      `missing id; use satscribe mint ${action} <id>${action === 'upload' ? ' <folder>' : ''}`,
    );
  if (action === 'show') return (await import('./mint-shown.ts')).show(context, id);
  return decide(context, action, id, folder);
}

/** Runs an action that changes one collection. */
async function decide(context: CommandContext, action: string, id: string, folder: string): Promise<void> {
  if (action === 'upload' && folder === '')
    throw new UsageError(`missing folder; use satscribe mint upload ${id} <folder>`);
  const { approve, close, refuse, upload } = await import('./mint-decided.ts');
  if (action === 'approve') return approve(context, id);
  if (action === 'upload') return upload(context, id, folder);
  return action === 'refuse' ? refuse(context, id) : close(context, id);
}

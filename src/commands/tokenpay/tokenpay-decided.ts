import { userInfo } from 'node:os';
import { parseOutpoint } from '#kernel/bitcoin/parse-outpoint.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { withService } from '#src/commands/service-database.ts';
import { decideCredit, type NamedAside } from '#tokenpay/operator/decide-credit.ts';

/** The database has the same bounds. */
const reasonMax = 1000;
const nameMax = 100;

/** Credits an output that is set aside. */
export async function credit(context: CommandContext, text: string): Promise<void> {
  const { flags, print } = context;
  const named = namedAside(context, text);
  await withService(context, async (pool) => {
    const { order, credit: found } = await decideCredit(pool, named, new Date());
    const output = outpointOf(named);
    const runes = found.runes.length;
    await print(
      flags['json'] === undefined
        ? `${output} is credited to ${order.account}: ${found.sats} sats${runes === 0 ? '' : ` and ${runes} ${runes === 1 ? 'rune' : 'runes'}`}\n`
        : `${JSON.stringify({ output, account: order.account, orderId: order.id, sats: Number(found.sats) })}\n`,
    );
  });
}

/** The output that the words name, with who decides and why. */
function namedAside({ flags }: CommandContext, text: string): NamedAside {
  const outpoint = parseOutpoint(text);
  if (outpoint === null) throw new UsageError(`${text} is not an output: <txid>:<vout>`);
  const reason = flags['reason']?.trim() ?? '';
  if (reason === '' || reason.length > reasonMax)
    throw new UsageError(
      `--reason TEXT says why, in at most ${reasonMax} characters: it is kept with the decision`,
    );
  const by = flags['by']?.trim() ?? systemUser();
  if (by === '' || by.length > nameMax)
    throw new UsageError(`--by NAME says who decides, in at most ${nameMax} characters`);
  return { ...outpoint, by, reason };
}

/** The user that runs the command; some systems have no name for it. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return 'operator';
  }
}

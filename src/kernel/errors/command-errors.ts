/** What may be wrong with a command that a person runs, or with what it needs. */
export const commandErrors = {
  account_exists: {
    meaning: 'An account with that name already exists.',
    action: 'Use it, or choose another name; `satscribe accounts list` shows all.',
    retry: 'never',
  },
  account_unknown: {
    meaning: 'There is no account with that name.',
    action: 'Look at `satscribe accounts list`, or create it with `satscribe accounts create NAME`.',
    retry: 'never',
  },
  key_not_found: {
    meaning: 'The account has no such key, or it is already revoked.',
    action: 'Look at `satscribe keys list --account A`.',
    retry: 'never',
  },
  not_confirmed: {
    meaning: 'A question on the terminal was not answered with yes, so nothing was changed.',
    action: 'Run the command again, and answer yes; or give --yes.',
    retry: 'never',
  },
  output_failed: {
    meaning: 'The output of the command could not be written completely.',
    action: 'Make room at the destination, or name another one, and run the command again.',
    retry: 'never',
  },
  instance_unusable: {
    meaning: 'The other instance did not answer, or not in the form of an instance of this version.',
    action: 'Open its address with the path /status. It must serve the same network, and the same events.',
    retry: 'never',
  },
} as const;

import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of a command that a person runs, and of the settings and parts that a process starts with. */
export const commandErrors = {
  config_invalid: {
    meaning: 'A setting or a command line flag has an invalid value.',
    action: 'Correct the setting that the message names; docs/configuration.md has the bounds.',
    retry: 'never',
  },
  data_dir_busy: {
    meaning: 'Another process of this program uses the data folder.',
    action: 'End the process that the message names, or choose another folder with --data.',
    retry: 'never',
  },
  data_dir_unusable: {
    meaning: 'The data folder cannot be created, read or written.',
    action: 'Correct its owner or permissions, or choose another folder with --data.',
    retry: 'never',
  },
  file_unusable: {
    meaning: 'A file or a folder that the program needs cannot be read or written.',
    action:
      'The message has its path and the reason of the system: correct its owner or permissions, make room on its disk, or name another one.',
    retry: 'minute',
  },
  system_limit: {
    meaning: 'The system gives this process no more open files, threads, processes or memory.',
    action:
      'Raise the limit that the message names (`ulimit -n`, `ulimit -u`, LimitNOFILE, the memory of the container), or lower CONNECTIONS.',
    retry: 'never',
  },
  program_incomplete: {
    meaning: 'A part of the program, or a program that it starts, is missing or was made for another system.',
    action: 'Run `npm ci` again, on this machine and with Node 24.',
    retry: 'never',
  },
  start_unanswered: {
    meaning: 'A path that a service asks of itself at its start was not answered with 200.',
    action:
      'Read the log: it has the error of that request. With HTTP_PROXY in the environment, exclude the own address by NO_PROXY.',
    retry: 'never',
  },
  port_in_use: {
    meaning: 'Another program listens on the port.',
    action: 'End it, or choose another port with --port N or PORT.',
    retry: 'never',
  },
  address_unusable: {
    meaning: 'The server cannot listen on the address or port.',
    action:
      'Correct --host and --port: the address must be one of this machine, and ports below 1024 may need rights.',
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
} as const satisfies Record<string, ErrorCodeEntry>;

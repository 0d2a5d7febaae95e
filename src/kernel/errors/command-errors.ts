import type { ErrorCodeEntry } from './error-code-entry.ts';

/** Failures of a command that a person runs, and of the settings and parts that a process starts with. */
export const commandErrors = {
  config_invalid: {
    meaning: 'A setting or a command line flag has an invalid value.',
    action: 'Correct the setting that the message names. docs/configuration.md lists the valid values.',
    retry: 'never',
  },
  data_dir_busy: {
    meaning: 'Another process of this program uses the data folder.',
    action: 'Stop the process that the message names, or choose another folder with --data.',
    retry: 'never',
  },
  data_dir_unusable: {
    meaning: 'The data folder cannot be created, read or written.',
    action: 'Correct the owner or the permissions of the folder, or choose another folder with --data.',
    retry: 'never',
  },
  file_unusable: {
    meaning: 'A file or a folder that the program needs cannot be read or written.',
    action:
      'The message has the path and the reason that the system gives. Correct the owner or the permissions, free space on the disk, or name another path.',
    retry: 'minute',
  },
  system_limit: {
    meaning: 'The system refuses this process more open files, threads, processes or memory.',
    action:
      'Raise the limit that the message names (`ulimit -n`, `ulimit -u`, LimitNOFILE, the memory of the container), or lower CONNECTIONS.',
    retry: 'never',
  },
  program_incomplete: {
    meaning:
      'A part of this program, or a program that it starts, is missing or was built for another system.',
    action: 'Run `npm ci` again on this machine, with Node 24.',
    retry: 'never',
  },
  start_unanswered: {
    meaning:
      'At its start, a service requests some of its own paths, and one of them did not answer with status 200.',
    action:
      'Read the error of that request in the log. If HTTP_PROXY is set, add the address of the service to NO_PROXY.',
    retry: 'never',
  },
  port_in_use: {
    meaning: 'Another program already listens on the port.',
    action: 'Stop that program, or choose another port with --port N or PORT.',
    retry: 'never',
  },
  address_unusable: {
    meaning: 'The server cannot listen on the IP address or the port.',
    action:
      'Correct --host and --port. The address must belong to this machine, and ports below 1024 may need special rights.',
    retry: 'never',
  },
  not_confirmed: {
    meaning: 'The answer to a question on the terminal was not yes, so nothing was changed.',
    action: 'Run the command again and answer yes, or add --yes.',
    retry: 'never',
  },
  output_failed: {
    meaning: 'The output of the command could not be written completely.',
    action:
      'Free space where the output is written, or write it to another place, and run the command again.',
    retry: 'never',
  },
  instance_unusable: {
    meaning: 'The other instance did not answer, or its answer was not one of this version.',
    action:
      'Open the address of that instance with the path /status. It must serve the same network and have the same kinds of events.',
    retry: 'never',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

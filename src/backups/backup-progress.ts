/** Progress of a backup or a restore. `done` and `of` are bytes. */
export interface BackupProgress {
  readonly step: 'tables' | 'files' | 'check of tables' | 'check of files' | 'load';
  readonly done: number;
  readonly of: number;
}

export interface BackupWork {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: BackupProgress) => void;
}

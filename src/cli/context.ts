/** The process of a command. */
export interface CommandContext {
  env: NodeJS.ProcessEnv;
  /** Aborts on Ctrl-C, on SIGTERM, and when the reader of standard output closes the pipe. */
  signal: AbortSignal;
}

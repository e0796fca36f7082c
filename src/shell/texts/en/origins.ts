export const origins = {
  openAt: (host: string) => `Open the gateway at ${host}.`,
  askOperator: 'The operator of this gateway has to give each site an origin of its own.',
  orCommand: (command: string) => `The command “${command}” works without that.`,
  unknown:
    'The gateway’s host does not answer, or it has a newer version of this app. So the app does not know whether scripts of sites could reach your keys, and uses no key. The app asks the host again by itself.',
};

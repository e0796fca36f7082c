import type { origins as english } from '../en/origins.ts';

export const origins: typeof english = {
  openAt: (host) => `Das Gateway unter ${host} öffnen.`,
  askOperator: 'Der Betreiber dieses Gateways muss jeder Website einen eigenen Ursprung geben.',
  orCommand: (command) => `Der Befehl „${command}“ kommt ohne das aus.`,
  unknown:
    'Der Host des Gateways antwortet nicht, oder er hat eine neuere Version dieser App. Deshalb weiß die App nicht, ob Skripte von Websites Ihre Schlüssel erreichen könnten, und verwendet keinen Schlüssel. Die App fragt den Host von selbst wieder.',
};

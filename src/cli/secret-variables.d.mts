export function takeEnvironment(): NodeJS.ProcessEnv;

/**
 * A view of a node with the platform's own properties. `<img name="currentScript">` in sanitised HTML replaces the
 * document's property of that name, and `<input name="style">` replaces the property of its form. Pass the node
 * itself, not this view, to platform functions.
 */
export function unclobbered<N extends Node>(node: N): N {
  return new Proxy({} as N, {
    get(_, name) {
      const value = Reflect.get(Object.getPrototypeOf(node), name, node);
      return typeof value === 'function' ? value.bind(node) : value;
    },
  });
}

export const page = unclobbered(globalThis.document);

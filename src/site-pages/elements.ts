export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  content: readonly (Node | string)[],
  properties: Partial<HTMLElementTagNameMap[Tag]> = {},
): HTMLElementTagNameMap[Tag] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...content);
  return made;
}

/** Creates a paragraph that screen readers announce, now or when its text changes. */
export function announcement(role: 'status' | 'alert', text: string): HTMLParagraphElement {
  const made = element('p', [text]);
  made.setAttribute('role', role);
  return made;
}

export function link(text: string, href: string): HTMLAnchorElement {
  return element('a', [text], { href });
}

export function button(text: string, onclick: () => void): HTMLButtonElement {
  return element('button', [text], { type: 'button', onclick });
}

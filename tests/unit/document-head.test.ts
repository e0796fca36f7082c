import { describe, expect, it } from 'vitest';
import { iconPath, readHead } from '../../src/gateway/http/document-head.ts';

const read = (html: string, type = 'text/html') => readHead(new TextEncoder().encode(html), type);

describe('the head of a document', () => {
  it.each([
    ['<title>Plain</title>', 'Plain'],
    ['<!doctype html><html><head><title>\n  Two\t words \n</title>', 'Two words'],
    ['<title>Fish &amp; chips &mdash; &#x41;&eacute;</title>', 'Fish &amp; chips &mdash; &#x41;&eacute;'],
    ['<!-- <title>no</title> --><script>"<title>no</title>"</script><title>Yes</title>', 'Yes'],
    ['<TITLE LANG=en>Capitals</TITLE>', 'Capitals'],
    ['<title>A <b>tag</b> is text</title>', 'A <b>tag</b> is text'],
    ['<title></title>', null],
    ['<title>never ends', 'never ends'],
    ['<body><svg><title>a drawing</title></svg>', null],
    ['<svg><title>a drawing</title></svg>', null],
    ['<template><title>a part</title></template></noscript><title>Own</title>', 'Own'],
    ['<noscript><title>for others</title></noscript><title>Own</title>', 'Own'],
    ['no document', null],
    [`<title>${'😀'.repeat(1300)}</title>`, '😀'.repeat(1000)],
  ])('of %j has its title', (html, title) => {
    expect(read(html).title).toBe(title);
  });

  it.each([
    ['<link rel=icon href=a.png>', 'a.png'],
    ['<link rel="stylesheet" href="b.css"><link rel="Shortcut Icon" href="c.ico">', 'c.ico'],
    ['<link rel=icon href="a.png?b=1&amp;c=2">', 'a.png?b=1&c=2'],
    ['<link rel=icon><link rel=icon href="d.svg"><link rel=icon href="e.svg">', 'd.svg'],
    ['<link rel="mask-icon" href="f.svg">', null],
    ['<body><link rel=icon href=g.png>', null],
  ])('of %j has its icon', (html, icon) => {
    expect(read(html).iconHref).toBe(icon);
  });

  it('is read in the encoding that the answer names, then in the document’s own, then in UTF-8', () => {
    const latin1 = Uint8Array.from('<meta charset=iso-8859-1><title>\xfcber</title>', (c) => c.charCodeAt(0));
    expect(readHead(latin1, 'text/html').title).toBe('über');
    expect(readHead(latin1, 'text/html; charset=utf-8').title).toBe('\ufffdber');
    expect(readHead(latin1, 'text/html; charset=klingon').title).toBe('\ufffdber');
    expect(read('<title>über</title>').title).toBe('über');
  });
});

describe('the path of an icon', () => {
  it.each([
    ['a.png', '/site', '/site/docs/', '/site/docs/a.png'],
    ['../a.png?v=2', '/site', '/site/docs/x.html', '/site/a.png?v=2'],
    ['/site/a.png', '/site', '/site/', '/site/a.png'],
    ['/a.png', '/site', '/site/', null],
    ['../../other/a.png', '/site', '/site/', null],
    ['https://elsewhere.example/site/a.png', '/site', '/site/', null],
    ['data:image/png;base64,AAAA', '/site', '/site/', null],
    ['https://[', '/site', '/site/', null],
  ])('%j, below %j, in %j', (href, root, path, expected) => {
    expect(iconPath(href, root, path)).toBe(expected);
  });
});

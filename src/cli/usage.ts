export const usage = `Antway: publish to the Autonomi network’s peers, and read from them.

Usage
  antway publish <file|folder> [options]   Print the address under which it can be opened.
  antway get <address>[/path] [options]    Fetch, verify and write a file, or list a folder.
  antway verify <gateway> [options]        Compare the files of a gateway’s host with a build on this machine.

Options of publish
  --peer URL        A peer to upload to; may be given more than once, then each gets all chunks.
                    Default: http://antway.localhost:8080
  --token TOKEN     What the peers ask of writers. Default: the environment’s ANTWAY_TOKEN
  --out FOLDER      Write the chunks into FOLDER, each named by its address, instead of uploading.
  --gateway URL     The gateway that the printed URL is for. Default: the first peer
  --ignore PATTERN  Leave out what matches, as in a .gitignore; may be given more than once.
  --json            Print one JSON object.

Options of get
  --peer URL        A peer to ask; may be given more than once. Default: http://antway.localhost:8080
  --from FOLDER     Read chunks from FOLDER, as “publish --out” wrote them, instead of asking peers.
  --out FILE        Write to FILE, whole or not at all. Default, and “-”: standard output
  --json            Print one JSON object: the listing of a folder, or what was written to --out.

Options of verify
  --build FOLDER    The build to compare with. Default: the folder dist of this project
  --json            Print one JSON object.

  -h, --help        Print this text.
  -v, --version     Print Antway’s version.

A folder is published as a tarchive, with everything in it: hidden files too, and links to files inside of it.
Left out, and said so: .git, empty folders, what is neither file nor folder, and what --ignore matches.

Exit codes: 0 done; 1 failed, with “CODE: message” on standard error; 2 the command line is wrong.
`;

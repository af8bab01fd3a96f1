# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster of several nodes on this machine, each in namespaces of its own.

    ray_cluster.py run --nodes 4 -- COMMAND     starts it, runs COMMAND on its head, ends it
    ray_cluster.py start --nodes 4              and stays
    ray_cluster.py exec -- COMMAND              on the head (--node I: on another)
    ray_cluster.py kill 2                       node 2 is gone at once, as if its power were cut
    ray_cluster.py stop

A node is a network namespace with a link to a bridge (10.78.0.1 is the head), a process and a mount
namespace, and a control group that gets `--cores` of the machine in periods of 10 ms; the head, which
runs no work, gets `--head-cores`. Their sum must be less than the machine has. Needs root on Linux with
unshare, nsenter, ip and tc, and a Python with Ray (`--python`). All ends with the process that holds
it, whatever happens. Addresses: 10.78.0.1:6379 on a node, ray://10.78.0.1:10001 where Ray's client is.
"""
import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PORT = 6379
NETWORK = "10.78.0"
BRIDGE = "ftray"
PERIOD_US = 10_000
WEIGHT = 262_144  # of all nodes together, where nothing else is to disturb them
CGROUPS = pathlib.Path("/sys/fs/cgroup")
MARK = "FORETRAIN_RAY_NODE"
# Nothing outside these namespaces reaches the cluster. Left to itself Ray asks for a token on the head
# alone, where an earlier Ray of this user has left one, and the other nodes are then refused.
OPEN = {"RAY_AUTH_MODE": "disabled"}
UNSHARE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def fail(message: str) -> None:
    sys.exit(f"ray_cluster: {message}")


def must(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"'{' '.join(words)}' failed: {done.stderr.strip()}")


def address(node: int) -> str:
    return f"{NETWORK}.{node + 1}"


# ---- control groups ----


def unified() -> bool:
    return (CGROUPS / "cgroup.controllers").exists()


def group_of(name: str) -> pathlib.Path:
    return (CGROUPS if unified() else CGROUPS / "cpu") / f"foretrain-ray-{name}"


def make_groups(given: argparse.Namespace) -> None:
    """One per node; of version 2 the node's processes are in a group below, beside their workers'."""
    parent = group_of(given.name)
    parent.mkdir(exist_ok=True)
    if unified():
        (CGROUPS / "cgroup.subtree_control").write_text("+cpu")
        (parent / "cgroup.subtree_control").write_text("+cpu")
    if given.first:
        (parent / ("cpu.weight" if unified() else "cpu.shares")).write_text(
            "10000" if unified() else str(WEIGHT))
    for node in range(given.nodes):
        group = parent / f"node{node}"
        group.mkdir(exist_ok=True)
        quota = round((given.head_cores if node == 0 else given.cores) * PERIOD_US)
        if unified():
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
            (group / "cgroup.subtree_control").write_text("+cpu")
            (group / "ray").mkdir(exist_ok=True)
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota))


def join_group(name: str, node: int) -> None:
    group = group_of(name) / f"node{node}"
    (group / "ray" / "cgroup.procs" if unified() else group / "cgroup.procs").write_text("0")


def remove_groups(name: str) -> None:
    """A group is busy for a moment after its last process has ended."""
    parent = group_of(name)
    for _ in range(100):
        if not parent.exists():
            return
        for folder, _, _ in os.walk(parent, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        time.sleep(0.05)


# ---- the process that holds the cluster ----


def make_link(node: int, network: str) -> None:
    name, outer = f"node{node}", f"{BRIDGE}{node}"
    must("ip", "netns", "add", name)
    must("ip", "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name)
    must("ip", "link", "set", outer, "master", BRIDGE, "up")
    must("ip", "-n", name, "addr", "add", f"{address(node)}/24", "dev", "eth0")
    must("ip", "-n", name, "link", "set", "eth0", "up")
    must("ip", "-n", name, "link", "set", "lo", "up")
    # Ray finds its own address by the route that it would take to the world.
    must("ip", "-n", name, "route", "add", "default", "via", f"{NETWORK}.254")
    if not network:
        return
    rate = bits_per_s(network)
    burst = max(32 * 1024, round(0.002 * rate / 8))
    shape = ["root", "tbf", "rate", f"{rate}bit", "burst", str(burst), "latency", "50ms"]
    must("tc", "qdisc", "replace", "dev", outer, *shape)
    must("ip", "netns", "exec", name, "tc", "qdisc", "replace", "dev", "eth0", *shape)


def bits_per_s(text: str) -> int:
    for unit, factor in (("gbps", 1e9), ("mbps", 1e6)):
        if text.endswith(unit):
            with contextlib.suppress(ValueError):
                return round(float(text.removesuffix(unit)) * factor)
    fail(f"'{text}' is no rate such as 100mbps or 1gbps")
    return 0


def start_node(given: argparse.Namespace, node: int) -> None:
    words = [f"--net=/run/netns/node{node}", *UNSHARE, sys.executable, __file__, "_node", str(node)]
    subprocess.Popen(
        ["nsenter", *words, *own_options(given)],
        env=os.environ | {MARK: f"{given.name}/{node}"},
    )


def hold(given: argparse.Namespace) -> None:
    """Inside: makes links and nodes, then waits to be killed."""
    must("mount", "--make-rprivate", "/")
    pathlib.Path("/run/netns").mkdir(exist_ok=True)
    must("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
    must("ip", "link", "set", "lo", "up")
    must("ip", "link", "add", BRIDGE, "type", "bridge")
    must("ip", "addr", "add", f"{NETWORK}.254/24", "dev", BRIDGE)
    must("ip", "link", "set", BRIDGE, "up")
    make_groups(given)
    for node in range(given.nodes):
        make_link(node, given.network)
        start_node(given, node)
        if node == 0:
            wait_for_port(given)
    print("links and nodes are made", flush=True)
    while True:
        with contextlib.suppress(ChildProcessError):
            os.wait()
        time.sleep(0.2)


def wait_for_port(given: argparse.Namespace) -> None:
    """Nodes join a head that listens."""
    test = f"import socket; socket.create_connection(('{address(0)}', {PORT}), 1)"
    for _ in range(240):
        words = ["nsenter", "--net=/run/netns/node0", given.python, "-c", test]
        if subprocess.run(words, capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.25)
    fail("the head does not answer; its log says why")


def become_node(given: argparse.Namespace) -> None:
    """Inside a node's namespaces: becomes Ray."""
    node = given.node
    join_group(given.name, node)
    folder = temporary(given.name)
    folder.mkdir(exist_ok=True)
    must("mount", "-t", "tmpfs", "tmpfs", str(folder))
    os.environ |= {
        "GLOO_SOCKET_IFNAME": "eth0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DISABLE_IMPORT_WARNING": "1",
        "TMPDIR": str(folder),
    } | OPEN
    words = [given.python, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats",
             f"--node-ip-address={address(node)}", "--object-store-memory=150000000",
             f"--num-cpus={0 if node == 0 else given.cpus}"]  # fmt: skip
    if node == 0:
        words += ["--head", f"--port={PORT}", "--include-dashboard=false", f"--temp-dir={folder}",
                  "--ray-client-server-port=10001"]  # fmt: skip
    else:
        words += [f"--address={address(0)}:{PORT}"]
    os.execv(words[0], words)


def temporary(name: str) -> pathlib.Path:
    """Short: names of sockets below it have little room."""
    return pathlib.Path(f"/tmp/ftray-{name}")


# ---- from outside ----


def own_options(given: argparse.Namespace) -> list[str]:
    words = [f"--{key}={getattr(given, key.replace('-', '_'))}" for key in
             ("name", "nodes", "cores", "head-cores", "cpus", "network", "python")]  # fmt: skip
    return words + (["--first"] if given.first else [])


def process_of(name: str, node: int) -> int | None:
    """The first process of a node, as it is called here."""
    mark = f"{MARK}={name}/{node}".encode()
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            spaces = [line for line in (folder / "status").read_text().splitlines()
                      if line.startswith("NSpid:")][0].split()  # fmt: skip
            if spaces[-1] != "1" or len(spaces) < 3:
                continue
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                return int(folder.name)
    return None


def holder_of(name: str) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        number = int((temporary(name) / "holder").read_text())
        words = pathlib.Path(f"/proc/{number}/cmdline").read_bytes()
        if b"ray_cluster.py" in words:
            return number
    return None


def start(given: argparse.Namespace) -> None:
    check(given)
    folder = temporary(given.name)
    folder.mkdir(mode=0o700, exist_ok=True)
    log = folder / "log"
    with log.open("wb") as file:
        words = ["unshare", "--net", *UNSHARE[1:], sys.executable, __file__, "_hold"]
        holder = subprocess.Popen([*words, *own_options(given)], stdin=subprocess.DEVNULL,
                                  stdout=file, stderr=file, start_new_session=True)  # fmt: skip
    (folder / "holder").write_text(str(holder.pid))
    try:
        wait_for_nodes(given, holder)
    except BaseException:
        stop(given)
        raise


def check(given: argparse.Namespace) -> None:
    if os.geteuid() != 0:
        fail("namespaces need root")
    for program in ("unshare", "nsenter", "ip", "tc"):
        if shutil.which(program) is None:
            fail(f"needs the program {program}")
    if subprocess.run([given.python, "-c", "import ray"], capture_output=True).returncode != 0:
        fail(f"{given.python} has no Ray; name one that has by --python")
    if given.nodes < 2:
        fail("needs a head and another node")
    cores = given.head_cores + given.cores * (given.nodes - 1)
    if cores >= (os.cpu_count() or 1):
        fail(f"nodes would get {cores:g} cores and the machine has {os.cpu_count()}; lower --cores")
    if holder_of(given.name) is not None:
        fail(f"'{given.name}' runs already; stop it, or give another --name")
    group = group_of(given.name)
    if group.exists():
        remove_groups(given.name)
    if not os.access(group.parent, os.W_OK):
        fail("control groups cannot be made here")


def wait_for_nodes(given: argparse.Namespace, holder: subprocess.Popen) -> None:
    """Until Ray knows them all."""
    test = (
        "import ray,sys,time,logging\n"
        f"ray.init('{address(0)}:{PORT}',logging_level=logging.ERROR,log_to_driver=False)\n"
        f"while sum(n['Alive'] for n in ray.nodes())<{given.nodes}: time.sleep(0.2)\n"
    )
    end = time.monotonic() + given.patience
    while time.monotonic() < end:
        if holder.poll() is not None:
            text = (temporary(given.name) / "log").read_text(errors="replace")
            fail(f"could not be made: {text.strip()[-500:]}")
        if process_of(given.name, given.nodes - 1) is not None:
            words = inside(given.name, 0, [given.python, "-c", test])
            with contextlib.suppress(subprocess.TimeoutExpired):
                left = max(1.0, end - time.monotonic())
                if subprocess.run(words, capture_output=True, timeout=left).returncode == 0:
                    return
        time.sleep(0.5)
    text = (temporary(given.name) / "log").read_text(errors="replace")
    fail(f"nodes do not come up: {text.strip()[-500:]}")


def inside(name: str, node: int, words: list[str]) -> list[str]:
    """The words that run a command on a node, outside its control group."""
    process = process_of(name, node)
    if process is None:
        fail(f"node {node} of '{name}' does not run")
    enter = ["nsenter", f"--target={process}", "--mount", "--net", "--pid", f"--wdns={os.getcwd()}"]
    settings = [f"{key}={value}" for key, value in OPEN.items()]
    return [*enter, "env", "GLOO_SOCKET_IFNAME=eth0", *settings, *words]


def execute(given: argparse.Namespace) -> int:
    words = given.words[1:] if given.words[:1] == ["--"] else given.words
    if not words:
        fail("needs a command after --")
    return subprocess.run(inside(given.name, given.node, words), check=False).returncode


def kill(given: argparse.Namespace) -> None:
    process = process_of(given.name, given.node)
    if process is None:
        fail(f"node {given.node} of '{given.name}' does not run")
    os.kill(process, signal.SIGKILL)  # the first of its namespace: all others go with it


def stop(given: argparse.Namespace) -> None:
    holder = holder_of(given.name)
    if holder is not None:
        os.kill(holder, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(holder, 0)
    remove_groups(given.name)
    shutil.rmtree(temporary(given.name), ignore_errors=True)


def run(given: argparse.Namespace) -> int:
    start(given)
    try:
        given.node = 0
        return execute(given)
    finally:
        stop(given)


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "start", "exec", "kill", "stop", "_hold", "_node"):
        one = commands.add_parser(name)
        if name in ("kill", "_node"):
            one.add_argument("node", type=int)
        if name == "exec":
            one.add_argument("--node", type=int, default=0)
        one.add_argument("--name", default="lab", help="of the cluster (lab)")
        if name in ("exec", "kill", "stop"):
            if name == "exec":
                one.add_argument("words", nargs=argparse.REMAINDER)
            continue
        one.add_argument("--nodes", type=int, default=4, help="with the head (4)")
        one.add_argument("--cores", type=float, default=0.5, help="of each node (0.5)")
        one.add_argument("--head-cores", type=float, default=0.4, help="of the head (0.4)")
        one.add_argument("--cpus", type=int, default=1, help="that Ray counts on a node (1)")
        one.add_argument("--network", default="", help="rate of each link, 1gbps (not shaped)")
        one.add_argument("--first", action="store_true", help="before all others on this machine")
        one.add_argument("--python", default=sys.executable, help="one that has Ray (this one)")
        one.add_argument("--patience", type=float, default=300, help="seconds to come up (300)")
        if name == "run":
            one.add_argument("words", nargs=argparse.REMAINDER)
    return parser.parse_args(words)


def main() -> int:
    given = parse(sys.argv[1:])
    if hasattr(given, "network") and given.network:
        bits_per_s(given.network)
    commands = {"run": run, "start": start, "exec": execute, "kill": kill, "stop": stop,
                "_hold": hold, "_node": become_node}  # fmt: skip
    return commands[given.command](given) or 0


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
    sys.exit(130)

# SPDX-License-Identifier: Apache-2.0
"""compare.py PROGRAM [PYTHON]: what a training step of the released Driple network takes, ours against
PyTorch's (PYTHON has torch), and what a prediction of one graph takes.

A step is forward, backward and Adam for 32 graphs of 100 nodes. The programs take turns, one step each, so
that a busy machine slows them alike; least and median times are printed, the ratio is that of the medians.
"""
import os
import statistics
import subprocess
import sys

STEPS = 7
HERE = os.path.dirname(os.path.abspath(__file__))


class Worker:
    def __init__(self, name, command, threads):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.ask("step")  # what is set up once

    def ask(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        cpu, wall = self.process.stdout.readline().split()
        return float(cpu), float(wall)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(program, python, threads):
    workers = [Worker("foretrain", [program, str(threads)], threads)]
    for way in ("bmm", "csr"):
        command = [python, "-W", "ignore", os.path.join(HERE, "step_pytorch.py"), str(threads), way]
        workers.append(Worker(f"PyTorch, {way}", command, threads))
    times = [[] for _ in workers]
    for _ in range(STEPS):
        for worker, mine in zip(workers, times):
            mine.append(worker.ask("step"))
    print(f"{threads} thread{'s' if threads > 1 else ''}: a step of 32 graphs      CPU s: least, median   "
          "s: least, median   PyTorch / ours: CPU, time"
          f"   (load {os.getloadavg()[0]:.1f})")
    # Two threads of PyTorch wait for each other by spinning: on a busy machine that costs them CPU seconds, so the
    # load is printed, too.
    medians = [[statistics.median(column) for column in zip(*mine)] for mine in times]
    for worker, mine, median in zip(workers, times, medians):
        least = [min(column) for column in zip(*mine)]
        ratio = f"{median[0] / medians[0][0]:8.2f} {median[1] / medians[0][1]:6.2f}"
        print(f"  {worker.name:32} {least[0]:12.3f} {median[0]:8.3f} {least[1]:10.3f} {median[1]:8.3f}"
              + (ratio.rjust(28) if worker is not workers[0] else ""))
    if threads == 1:
        once = [workers[0].ask("evaluate")[0] for _ in range(50)]
        print(f"  prediction of one graph, CPU ms: least {min(once) * 1e3:.2f}, "
              f"median {statistics.median(once) * 1e3:.2f}")
    for worker in workers:
        worker.close()


def main():
    program = sys.argv[1]
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    for threads in (1, 2):
        compare(program, python, threads)


main()

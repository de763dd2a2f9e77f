"""Solves slot problems with HiGHS: one JSON object a line in, one out.

Started by `esdp_milp::Highs`. The first line out tells the version; then, for every problem, its
answer: the uses of each channel, an upper bound, and the seconds that HiGHS itself ran.

The model (grouped tasks, whole numbers):

    max  sum v_e n_e + root          root <= the tangents of sqrt at several W, W = sum w_e n_e
    n_e <= fits_e y_l                minimum_g y_l <= sum over a group n_e <= count_g y_l
    sum over a job n_e >= minimum_l y_l                  0 <= y_l <= copies_l
    sum a_ek n_e <= c_k, of the cluster and of every server

The square root is concave, so its tangents lie above it: the optimum below finitely many of them is
an upper bound, and the value of its n is a lower one. A tangent is added where they touch until the
two meet. Requests and objective are scaled to about 1, since tolerances are absolute.
"""

import json
import math
import sys
import time

import highspy
import numpy

INFINITE = highspy.kHighsInf
# Below 1/(channels x largest scaled request), so that rounding to whole numbers keeps every limit.
FEASIBILITY = 1e-9
RELAXED_ROUNDS = 20
# Tangents around the relaxation's W, so that few rounds of whole numbers are needed.
FAN = [1.0 + step / 50.0 for step in range(-20, 21)]


class Problem:
    """The channels that can matter, with how often each fits."""

    def __init__(self, raw):
        self.capacity, self.mean, self.width = raw["capacity"], raw["mean"], raw["width"]
        devices = len(self.capacity)
        flat = raw["requests"]
        self.request = [flat[e * devices : (e + 1) * devices] for e in range(len(self.mean))]
        self.server, rooms = raw["server"], raw["server_capacity"]
        servers = len(rooms) // devices if devices else 0
        self.room = [rooms[r * devices : (r + 1) * devices] for r in range(servers)]
        self.group, self.groups, self.jobs = raw["group"], raw["groups"], raw["jobs"]
        self.fits = [self.fit(e) for e in range(len(self.mean))]
        self.most = [self.limit(e) for e in range(len(self.mean))]
        self.used = [e for e in range(len(self.mean)) if self.most[e] > 0 and self.matters(e)]

    def fit(self, e):
        rows = [self.capacity] + ([self.room[self.server[e]]] if self.server else [])
        limits = [c // a for row in rows for a, c in zip(self.request[e], row) if a > 0]
        return min(limits, default=2**62)

    def job(self, e):
        return self.jobs[self.groups[self.group[e]][0]]

    def limit(self, e):
        if not self.jobs:
            return min(1, self.fits[e])
        return min(self.groups[self.group[e]][1] * self.job(e)[1], self.fits[e])

    def matters(self, e):
        # A channel that is worth nothing may still bring a job to its minimum.
        needed = self.jobs and self.needs(self.groups[self.group[e]][0])
        return self.mean[e] > 0 or self.width[e] > 0 or needed

    def needs(self, job):
        return self.jobs[job][0] > 1 or any(of == job and least > 0 for of, _, least in self.groups)

    def value(self, uses):
        mean = math.fsum(n * self.mean[e] for e, n in uses)
        return mean + math.sqrt(math.fsum(n * self.width[e] for e, n in uses))


class Model:
    """The rows and columns of HiGHS, in scaled units."""

    def __init__(self, problem, limit):
        self.problem, self.deadline, self.seconds, self.late = problem, limit, 0.0, False
        used = problem.used
        self.unit = max(max(abs(problem.mean[e]), math.sqrt(problem.width[e])) for e in used)
        self.width_unit = max(problem.width[e] for e in used)
        self.cost = [problem.mean[e] / self.unit for e in used]
        self.lower = [0.0] * len(used)
        self.upper = [float(problem.most[e]) for e in used]
        self.whole = [True] * len(used)
        self.rows = []
        self.limits()
        if problem.jobs:
            self.gangs()
        if self.width_unit > 0:
            self.root()
        self.highs = self.build()

    def column(self, cost, upper, whole):
        self.cost.append(cost)
        self.lower.append(0.0)
        self.upper.append(upper)
        self.whole.append(whole)
        return len(self.cost) - 1

    def limits(self):
        problem = self.problem
        everything = list(enumerate(problem.used))
        of_server = {}
        for place, e in everything if problem.server else []:
            of_server.setdefault(problem.server[e], []).append((place, e))
        sets = [(problem.capacity, everything)]
        sets += [(problem.room[server], members) for server, members in sorted(of_server.items())]
        for capacity, members in sets:
            for device, room in enumerate(capacity):
                terms = [(place, problem.request[e][device], problem.most[e]) for place, e in members]
                if sum(a * most for _, a, most in terms) <= room:
                    continue
                largest = max(a for _, a, _ in terms)
                scaled = [(p, a / largest) for p, a, _ in terms if a > 0]
                self.rows.append((-INFINITE, room / largest, scaled))

    def gangs(self):
        problem = self.problem
        members = [[] for _ in problem.groups]
        for place, e in enumerate(problem.used):
            members[problem.group[e]].append((place, e))
        groups = [[] for _ in problem.jobs]
        for group, (job, count, least) in enumerate(problem.groups):
            if members[group] or least > 0:
                groups[job].append((count, least, members[group]))
        for (minimum, copies), parts in zip(problem.jobs, groups):
            if minimum <= 1 and not any(least for _, least, _ in parts):
                # Whole at any number of tasks.
                for count, _, tasks in parts:
                    self.rows.append((-INFINITE, float(count * copies), [(place, 1.0) for place, _ in tasks]))
                continue
            running = self.column(0.0, float(copies), True)
            for count, least, tasks in parts:
                if least > 0:
                    terms = [(place, 1.0) for place, _ in tasks] + [(running, -float(least))]
                    self.rows.append((0.0, INFINITE, terms))
                row = [(place, 1.0) for place, _ in tasks] + [(running, -float(count))]
                self.rows.append((-INFINITE, 0.0, row))
                for place, e in tasks:
                    # Follows from the row above for whole numbers only.
                    once = float(min(count, problem.fits[e]))
                    self.rows.append((-INFINITE, 0.0, [(place, 1.0), (running, -once)]))
            tasks = [(place, 1.0) for _, _, tasks in parts for place, _ in tasks]
            self.rows.append((0.0, INFINITE, tasks + [(running, -float(minimum))]))

    def root(self):
        problem = self.problem
        widths = [problem.width[e] / self.width_unit for e in problem.used]
        total = math.fsum(width * problem.most[e] for width, e in zip(widths, problem.used))
        self.most_width = total
        self.root_column = self.column(math.sqrt(self.width_unit) / self.unit, math.sqrt(total), False)
        self.sum_column = self.column(0.0, total, False)
        row = [(p, w) for p, w in enumerate(widths) if w > 0] + [(self.sum_column, -1.0)]
        self.rows.append((0.0, 0.0, row))

    def build(self):
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.cost), len(self.rows)
        lp.sense_ = highspy.ObjSense.kMaximize
        lp.col_cost_ = numpy.array(self.cost)
        lp.col_lower_, lp.col_upper_ = numpy.array(self.lower), numpy.array(self.upper)
        lp.row_lower_ = numpy.array([row[0] for row in self.rows])
        lp.row_upper_ = numpy.array([row[1] for row in self.rows])
        starts = numpy.cumsum([0] + [len(row[2]) for row in self.rows])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = starts
        index = [place for row in self.rows for place, _ in row[2]]
        lp.a_matrix_.index_ = numpy.array(index, dtype=numpy.int32)
        lp.a_matrix_.value_ = numpy.array([factor for row in self.rows for _, factor in row[2]])
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        for name in ["primal_feasibility_tolerance", "mip_feasibility_tolerance"]:
            highs.setOptionValue(name, FEASIBILITY)
        highs.passModel(lp)
        return highs

    def tangent(self, width):
        """root <= slope W + offset; at 0 the chord to the smallest W that is not 0."""
        if width <= 0:
            widths = (self.problem.width[e] for e in self.problem.used)
            smallest = min(w for w in widths if w > 0) / self.width_unit
            slope, offset = 1 / math.sqrt(smallest), 0.0
        else:
            slope, offset = 0.5 / math.sqrt(width), 0.5 * math.sqrt(width)
        columns = numpy.array([self.root_column, self.sum_column], dtype=numpy.int32)
        self.highs.addRow(-INFINITE, offset, 2, columns, numpy.array([1.0, -slope]))

    def set_whole(self, whole):
        kinds = highspy.HighsVarType
        for column, is_whole in enumerate(self.whole):
            if is_whole:
                self.highs.changeColIntegrality(column, kinds.kInteger if whole else kinds.kContinuous)

    def left(self):
        return self.deadline - self.seconds

    def run(self):
        """Runs within what is left of the limit; whether it came to its end."""
        self.highs.setOptionValue("time_limit", max(self.left(), 0.01))
        started = time.perf_counter()
        self.highs.run()
        self.seconds += time.perf_counter() - started
        status = self.highs.getModelStatus()
        self.late = status == highspy.HighsModelStatus.kTimeLimit
        return status == highspy.HighsModelStatus.kOptimal

    def relax(self):
        """Tangents where the continuous relaxation wants them; its optimum."""
        self.set_whole(False)
        self.tangent(self.most_width / 4)
        bound = INFINITE
        for _ in range(RELAXED_ROUNDS):
            if not self.run():
                break
            bound = min(bound, self.highs.getInfo().objective_function_value)
            x = self.highs.getSolution().col_value
            width, root = max(x[self.sum_column], 0.0), x[self.root_column]
            if root - math.sqrt(width) <= 1e-4 * abs(root) or self.left() <= 0:
                break
            self.tangent(width)
        else:
            width = self.most_width / 4
        for factor in FAN:
            if 0 < width * factor <= self.most_width:
                self.tangent(width * factor)
        return bound

    def uses(self):
        """The chosen uses as whole numbers; none before there is an incumbent."""
        solution = self.highs.getSolution()
        if not solution.value_valid:
            return None
        x = solution.col_value
        rounded = [(e, round(x[place])) for place, e in enumerate(self.problem.used)]
        return [(e, n) for e, n in rounded if n > 0]


def solve(raw):
    problem = Problem(raw)
    tolerance = raw["tolerance"]
    if not problem.used:
        return {"uses": [], "bound": 0.0, "seconds": 0.0, "proved": True}
    model = Model(problem, raw["limit"])
    best, value, bound, proved = [], 0.0, INFINITE, False
    curved = model.width_unit > 0
    if curved:
        bound = model.relax() * model.unit
        model.highs.clearSolver()
    model.set_whole(True)
    touched = set()
    while model.left() > 0:
        # Half of the tolerance is for the proof, half for the tangents.
        model.highs.setOptionValue("mip_rel_gap", tolerance / 2)
        model.highs.setOptionValue("mip_abs_gap", tolerance / 2 * max(value / model.unit, 1e-3))
        finished = model.run()
        bound = min(bound, model.highs.getInfo().mip_dual_bound * model.unit)
        uses = model.uses()
        if uses is None:
            break
        worth = problem.value(uses)
        if worth > value:
            best, value = uses, worth
        if bound - value <= tolerance * abs(bound) + 1e-12 * model.unit:
            proved = True
            break
        if not finished:
            break
        width = math.fsum(n * problem.width[e] for e, n in uses) / model.width_unit if curved else 0.0
        if not curved or width in touched:
            # No tangent is missing: what is left is rounding.
            proved = True
            break
        touched.add(width)
        model.tangent(width)
    bound = max(bound, value) if math.isfinite(bound) else None
    late = model.late or model.left() <= 0
    return {"uses": best, "bound": bound, "seconds": model.seconds, "proved": proved, "late": late}


def main():
    print(json.dumps({"version": highspy.Highs().version()}), flush=True)
    for line in sys.stdin:
        try:
            answer = solve(json.loads(line))
        except Exception as error:  # The caller shows it; the next problem may do.
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


main()

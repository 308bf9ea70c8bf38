"""Connected components by the executors: large-star and small-star
(Kiveris et al., Connected Components in MapReduce and Beyond, 2014), until a fixpoint.
Used when there are too many edges for one union-find.  The result is the same: the
smallest member of every component.
"""
import numpy

from neardup.errors import DataError


def _large_star(df):
    """Links every larger neighbour of u to the smallest vertex of u and its neighbours."""
    import pyspark.sql.functions as F

    both = df.select("a", "b").unionByName(df.selectExpr("b as a", "a as b"))
    least = both.groupBy("a").agg(F.min("b").alias("m")).selectExpr("a", "least(a, m) as m")
    return (both.join(least, "a").where("b > a").selectExpr("b as a", "m as b")
            .where("a != b").distinct())


def _small_star(df):
    """Links u and every smaller neighbour to the smallest of them."""
    import pyspark.sql.functions as F

    down = df.selectExpr("greatest(a, b) as a", "least(a, b) as b")
    least = down.groupBy("a").agg(F.min("b").alias("m"))
    joined = down.join(least, "a")
    return (joined.where("b != m").selectExpr("b as a", "m as b")
            .unionByName(least.selectExpr("a", "m as b")).distinct())


def find(spark, edges, most_rounds=100):
    """Maps a DataFrame (a, b) of edges to (a, b), where b is the smallest member of the
    component of a, for every a other than b."""
    df = edges.selectExpr("cast(greatest(a, b) as bigint) as a", "cast(least(a, b) as bigint) as b"
                          ).where("a != b").distinct().localCheckpoint()
    for _ in range(most_rounds):
        new = _small_star(_large_star(df)).localCheckpoint()
        changed = new.exceptAll(df).limit(1).count() + df.exceptAll(new).limit(1).count()
        df = new
        if not changed:
            return df
    raise DataError(f"components did not converge in {most_rounds} rounds")


def of_pairs(spark, pairs, documents):
    """Returns the root of every document, like _stage.components."""
    import pyarrow as pa

    table = pa.table({"a": (pairs >> numpy.uint64(32)).astype(numpy.int64),
                      "b": (pairs & numpy.uint64(0xFFFFFFFF)).astype(numpy.int64)})
    found = find(spark, spark.createDataFrame(table)).toArrow()
    root = numpy.arange(documents, dtype=numpy.uint32)
    root[found.column("a").to_numpy()] = found.column("b").to_numpy()
    return root
